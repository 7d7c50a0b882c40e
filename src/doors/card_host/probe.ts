import { connect } from 'node:net'
import { FrameReader, writeFrame } from '#iso8583/frame.ts'
import type { Link } from '#iso8583/link.ts'
import type { Clock } from '#platform/runtime/clock.ts'
import type { Probes } from '#platform/runtime/health.ts'
import type { IsoSettings } from '#settings/iso_settings.ts'
import { networkManagementRequest, SIGN_ON } from './network_management.ts'
import { peerFilter } from './peers.ts'

const TIMEOUT_MS = 1_000
/** Above this latency, networks start to decide in stand-in. */
const SLOW_MS = 500

type ProbeOptions = {
  port: number
  link: Link
  clock: Clock
  settings: Pick<IsoSettings, 'iso_host' | 'iso_tls' | 'iso_peers'>
}

/**
 * Checks the host as a network would, with a sign-on over its own port. If the host uses TLS or
 * this machine is not one of its peers, accepting the connection is enough.
 */
export function issuerProbe(options: ProbeOptions): Probes['issuer'] {
  return async () => {
    const { clock } = options
    const started = clock.monotonic()
    const is_responding = await signOn(options)
    const latency_ms = Math.round((clock.monotonic() - started) * 100) / 100
    if (!is_responding) {
      return { status: 'outage', message: 'The card host does not respond.', latency_ms: null }
    }
    return latency_ms > SLOW_MS
      ? { status: 'degraded', message: 'The card host responds slowly.', latency_ms }
      : { status: 'operational', message: null, latency_ms }
  }
}

const ANY_ADDRESS: ReadonlySet<string> = new Set(['0.0.0.0', '::'])

function signOn({ port, link, clock, settings }: ProbeOptions): Promise<boolean> {
  const { iso_host, iso_tls, iso_peers } = settings
  const host = ANY_ADDRESS.has(iso_host) ? '127.0.0.1' : iso_host
  return new Promise((resolve) => {
    const socket = connect(port, host)
    const timeout = new AbortController()
    const finish = (is_responding: boolean) => {
      timeout.abort()
      socket.destroy()
      resolve(is_responding)
    }
    void clock.sleep(TIMEOUT_MS, timeout.signal).then(() => finish(false))
    socket.on('error', () => finish(false))
    socket.on('close', () => finish(false))
    socket.on('connect', () => {
      if (iso_tls !== null || !peerFilter(iso_peers)(socket.localAddress ?? '')) return finish(true)
      const options = { code: SIGN_ON, stan: 1, now: clock.wall() } as const
      socket.write(writeFrame(link.frame, networkManagementRequest(link, options)))
    })
    const reader = new FrameReader(link.frame)
    socket.on('data', (chunk: Buffer) => reader.push(chunk, () => finish(true)))
  })
}
