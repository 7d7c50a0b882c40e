import { readFileSync } from 'node:fs'
import { type AddressInfo, createServer, type Server, type Socket } from 'node:net'
import { createServer as createTlsServer } from 'node:tls'
import type { Settings } from '#platform/config.ts'
import { Connection } from './connection.ts'
import type { HostSeams } from './dispatch.ts'
import { Turns } from './turns.ts'

export type CardHost = {
  port: number
  stop(): Promise<void>
}

type Listening = Pick<Settings, 'iso_port' | 'iso_host' | 'iso_tls'>

const BEAT_MS = 25
/** What is still under way when the service stops gets this long. */
const DRAIN_MS = 2_000
const DRAIN_STEP_MS = 10

/** The issuer's end of a card network: one port, one link, any number of connections. */
export async function startCardHost(seams: HostSeams, settings: Listening): Promise<CardHost> {
  const connections = new Set<Connection>()
  const turns = new Turns(seams.clock)
  const accept = (socket: Socket) => {
    const connection = new Connection(socket, seams, turns)
    connections.add(connection)
    socket.once('close', () => connections.delete(connection))
  }
  const server = serverFor(settings, accept)
  await listening(server, settings)
  const stopBeat = seams.clock.every(BEAT_MS, () => {
    for (const connection of connections) connection.beat()
  })
  return {
    port: (server.address() as AddressInfo).port,
    stop: async () => {
      const closed = new Promise((done) => server.close(done))
      for (const connection of connections) connection.drain()
      const busy = () => [...connections].some(({ in_flight }) => in_flight > 0)
      for (let waited = 0; busy() && waited < DRAIN_MS; waited += DRAIN_STEP_MS) {
        await seams.clock.sleep(DRAIN_STEP_MS)
      }
      stopBeat()
      // The last answers leave on the next turn.
      await seams.clock.sleep(0)
      for (const connection of connections) connection.destroy()
      await closed
    },
  }
}

function serverFor({ iso_tls }: Listening, accept: (socket: Socket) => void): Server {
  if (iso_tls === null) return createServer({ noDelay: true, allowHalfOpen: true }, accept)
  const { cert_file, key_file, client_ca_file } = iso_tls
  const server = createTlsServer(
    {
      cert: readFileSync(cert_file),
      key: readFileSync(key_file),
      minVersion: 'TLSv1.2',
      allowHalfOpen: true,
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

function listening(server: Server, { iso_port, iso_host }: Listening): Promise<void> {
  return new Promise((done, failed) => {
    server.once('error', failed)
    server.listen(iso_port, iso_host, () => {
      server.off('error', failed)
      done()
    })
  })
}
