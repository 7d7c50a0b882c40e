import { connect } from 'node:net'
import { FrameReader, writeFrame } from '#iso8583/frame.ts'
import type { Link } from '#iso8583/link.ts'
import { encode } from '#iso8583/message.ts'
import type { Clock } from '#platform/runtime/clock.ts'
import type { Probes } from '#platform/runtime/health.ts'
import type { IsoSettings } from '#settings/iso_settings.ts'
import { peerFilter } from './peers.ts'

const PATIENCE_MS = 1_000
/** Slower than this and networks begin to decide in our place. */
const SLOW_MS = 500

type Asked = {
  port: number
  link: Link
  clock: Clock
  settings: Pick<IsoSettings, 'iso_host' | 'iso_tls' | 'iso_peers'>
}

/**
 * Asks the host what a network would ask: a sign-on over its own port. A host behind TLS, or one
 * that does not count this machine among its peers, is asked whether it takes the connection.
 */
export function issuerProbe(asked: Asked): Probes['issuer'] {
  return async () => {
    const started = asked.clock.monotonic()
    const isThere = await echoed(asked)
    const latency_ms = Math.round((asked.clock.monotonic() - started) * 100) / 100
    if (!isThere) {
      return { status: 'outage', message: 'The card host does not answer.', latency_ms: null }
    }
    return latency_ms > SLOW_MS
      ? { status: 'degraded', message: 'The card host answers slowly.', latency_ms }
      : { status: 'operational', message: null, latency_ms }
  }
}

const EVERY_ADDRESS: ReadonlySet<string> = new Set(['0.0.0.0', '::'])

function echoed({ port, link, clock, settings }: Asked): Promise<boolean> {
  const { iso_host, iso_tls, iso_peers } = settings
  const host = EVERY_ADDRESS.has(iso_host) ? '127.0.0.1' : iso_host
  return new Promise((resolve) => {
    const socket = connect(port, host)
    const answered = new AbortController()
    const end = (answer: boolean) => {
      answered.abort()
      socket.destroy()
      resolve(answer)
    }
    void clock.sleep(PATIENCE_MS, answered.signal).then(() => end(false))
    socket.on('error', () => end(false))
    socket.on('close', () => end(false))
    socket.on('connect', () => {
      if (iso_tls !== null || !peerFilter(iso_peers)(socket.localAddress ?? '')) return end(true)
      const moment = clock.wall().toISOString().replace(/\D/g, '').slice(4, 14)
      const fields = { 7: moment, 11: '000001', 70: '001' }
      socket.write(writeFrame(link.frame, encode(link, { mti: '0800', fields })))
    })
    const reader = new FrameReader(link.frame)
    socket.on('data', (chunk: Buffer) => reader.push(chunk, () => end(true)))
  })
}
