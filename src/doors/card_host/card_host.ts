import { readFileSync } from 'node:fs'
import { type AddressInfo, createServer, type Server, type Socket } from 'node:net'
import { createServer as createTlsServer } from 'node:tls'
import type { IsoSettings } from '#settings/iso_settings.ts'
import { Connection } from './connection.ts'
import type { CardHostDependencies } from './dispatch.ts'
import { FrameScheduler } from './frame_scheduler.ts'
import { peerFilter } from './peers.ts'

export type CardHost = {
  port: number
  stop(): Promise<void>
}

export type CardHostSettings = Pick<
  IsoSettings,
  'iso_port' | 'iso_host' | 'iso_tls' | 'iso_peers' | 'iso_connections_max' | 'iso_sign_on'
>

const BEAT_MS = 25
/** A peer that has not agreed on keys by then holds a place for nothing. */
const HANDSHAKE_MAX_MS = 10_000
/** What is still under way when the service stops gets this long. */
const DRAIN_MS = 2_000
const DRAIN_STEP_MS = 10

/** The issuer's end of a card network: one port, one link, any number of connections. */
export async function startCardHost(
  dependencies: CardHostDependencies,
  settings: CardHostSettings,
): Promise<CardHost> {
  const connections = new Set<Connection>()
  const turns = new FrameScheduler(dependencies.clock)
  // Forty beats a second are only for those who are connected.
  let stopBeat: (() => void) | undefined
  const endBeat = () => {
    stopBeat?.()
    stopBeat = undefined
  }
  const accept = (socket: Socket) => {
    if (socket.destroyed) return
    // Only now: a peer that hangs up during its TLS handshake has no answers to wait for.
    socket.allowHalfOpen = true
    const sign_on = settings.iso_sign_on === 'required' ? 'awaited' : 'done'
    const connection = new Connection(socket, dependencies, { turns, state: { sign_on } })
    connections.add(connection)
    stopBeat ??= dependencies.clock.every(BEAT_MS, () => {
      for (const one of connections) one.beat()
    })
    socket.once('close', () => {
      connections.delete(connection)
      if (connections.size === 0) endBeat()
    })
  }
  const server = serverFor(settings, accept)
  refuseStrangers(server, dependencies, settings)
  await listening(server, settings)
  return {
    port: (server.address() as AddressInfo).port,
    stop: async () => {
      const closed = new Promise((done) => server.close(done))
      for (const connection of connections) connection.drain()
      const busy = () => [...connections].some(({ in_flight }) => in_flight > 0)
      for (let waited = 0; busy() && waited < DRAIN_MS; waited += DRAIN_STEP_MS) {
        await dependencies.clock.sleep(DRAIN_STEP_MS)
      }
      endBeat()
      // The last answers leave on the next turn.
      await dependencies.clock.sleep(0)
      for (const connection of connections) connection.destroy()
      await closed
    },
  }
}

/** Before the first byte is read, and before any keys are agreed on. */
function refuseStrangers(
  server: Server,
  { metrics }: CardHostDependencies,
  settings: CardHostSettings,
): void {
  const isPeer = peerFilter(settings.iso_peers)
  const { card_connections_refused } = metrics
  server.maxConnections = settings.iso_connections_max
  server.on('drop', () => card_connections_refused.inc({ reason: 'too_many' }))
  server.prependListener('connection', (socket: Socket) => {
    if (isPeer(socket.remoteAddress ?? '')) return
    card_connections_refused.inc({ reason: 'unknown_peer' })
    socket.destroy()
  })
}

function serverFor({ iso_tls }: CardHostSettings, accept: (socket: Socket) => void): Server {
  if (iso_tls === null) return createServer({ noDelay: true }, accept)
  const { cert_file, key_file, client_ca_file } = iso_tls
  const server = createTlsServer(
    {
      cert: readFileSync(cert_file),
      key: readFileSync(key_file),
      minVersion: 'TLSv1.2',
      handshakeTimeout: HANDSHAKE_MAX_MS,
      ...(client_ca_file !== null && {
        ca: readFileSync(client_ca_file),
        requestCert: true,
        rejectUnauthorized: true,
      }),
    },
    accept,
  )
  // A peer that cannot agree on a key is its own misfortune, not the host's.
  server.on('tlsClientError', (_cause, socket) => socket.destroy())
  return server
}

function listening(server: Server, { iso_port, iso_host }: CardHostSettings): Promise<void> {
  return new Promise((done, failed) => {
    server.once('error', failed)
    server.listen(iso_port, iso_host, () => {
      server.off('error', failed)
      done()
    })
  })
}
