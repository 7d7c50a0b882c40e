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

const TICK_MS = 25
const HANDSHAKE_MAX_MS = 10_000
/** Messages in flight get this long to finish when the service stops. */
const DRAIN_MS = 2_000
const DRAIN_STEP_MS = 10

/** The issuer's host for card networks: one port, one link, any number of connections. */
export async function startCardHost(
  dependencies: CardHostDependencies,
  settings: CardHostSettings,
): Promise<CardHost> {
  const { clock } = dependencies
  const connections = new Set<Connection>()
  const scheduler = new FrameScheduler(clock)
  // The timer only runs while a peer is connected, so an idle host costs nothing.
  let stopTicking: (() => void) | undefined
  const stopTimer = () => {
    stopTicking?.()
    stopTicking = undefined
  }
  const accept = (socket: Socket) => {
    if (socket.destroyed) return
    // Not set earlier: a peer that hangs up during its TLS handshake waits for no responses.
    socket.allowHalfOpen = true
    const sign_on = settings.iso_sign_on === 'required' ? 'awaited' : 'signed_on'
    const connection = new Connection(socket, dependencies, { scheduler, state: { sign_on } })
    connections.add(connection)
    stopTicking ??= clock.every(TICK_MS, () => {
      for (const each of connections) each.tick()
    })
    socket.once('close', () => {
      connections.delete(connection)
      if (connections.size === 0) stopTimer()
    })
  }
  const server = createListener(settings, accept)
  refuseUnknownPeers(server, dependencies, settings)
  await listen(server, settings)
  return {
    port: (server.address() as AddressInfo).port,
    stop: async () => {
      const closed = new Promise((done) => server.close(done))
      for (const connection of connections) connection.close()
      const isBusy = () => [...connections].some(({ in_flight }) => in_flight > 0)
      for (let waited = 0; isBusy() && waited < DRAIN_MS; waited += DRAIN_STEP_MS) {
        await clock.sleep(DRAIN_STEP_MS)
      }
      stopTimer()
      // Connections flush their last responses in the next turn of the event loop.
      await clock.sleep(0)
      for (const connection of connections) connection.destroy()
      await closed
    },
  }
}

/** Runs before the first byte is read and before the TLS handshake. */
function refuseUnknownPeers(
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

function createListener({ iso_tls }: CardHostSettings, accept: (socket: Socket) => void): Server {
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
  // Without a listener, a failed handshake would leave the socket open.
  server.on('tlsClientError', (_cause, socket) => socket.destroy())
  return server
}

function listen(server: Server, { iso_port, iso_host }: CardHostSettings): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', reject)
    server.listen(iso_port, iso_host, () => {
      server.off('error', reject)
      resolve()
    })
  })
}
