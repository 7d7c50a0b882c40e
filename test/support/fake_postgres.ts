import { once } from 'node:events'
import { type AddressInfo, createServer, type Socket } from 'node:net'

const message = (type: string, body: Buffer): Buffer => {
  const length = Buffer.alloc(4)
  length.writeInt32BE(body.length + 4)
  return Buffer.concat([Buffer.from(type), length, body])
}

const READY = message('Z', Buffer.from('I'))
const WELCOME = Buffer.concat([message('R', Buffer.alloc(4)), READY])

const TEXT = 25
const BOOLEAN = 16

/** The response to a query: one row of these values. */
function rowOf(values: Record<string, string | boolean | null>): Buffer {
  const columns = Object.entries(values)
  const count = Buffer.from([0, columns.length])
  const names = columns.map(([name, value]) => {
    const type = typeof value === 'boolean' ? BOOLEAN : TEXT
    const rest = [0, 0, 0, 0, 0, 0, 0, 0, 0, type, 255, 255, 255, 255, 255, 255, 0, 0]
    return Buffer.concat([Buffer.from(`${name}\0`), Buffer.from(rest)])
  })
  const fields = columns.map(([, value]) => {
    const text = typeof value === 'boolean' ? String(value).slice(0, 1) : value
    const length = Buffer.alloc(4)
    length.writeInt32BE(text?.length ?? -1)
    return Buffer.concat([length, Buffer.from(text ?? '')])
  })
  return Buffer.concat([
    message('T', Buffer.concat([count, ...names])),
    message('D', Buffer.concat([count, ...fields])),
    message('C', Buffer.from('SELECT 1\0')),
    READY,
  ])
}

export type FakePostgres = {
  port: number
  dials(): number
  /** Statements of callers, besides those that ask for its state. */
  queries(): number
  /** Makes it a primary on this timeline. */
  promote(timeline: string): void
  /** For a worker of Citus: gives it the schema, or takes it away. */
  giveSchema(isGiven: boolean): void
  close(): void
}

/**
 * Implements just enough of PostgreSQL's protocol to say that it is in recovery (null) or a primary
 * on this timeline, and for a worker of Citus whether it has the schema. It closes the connection
 * at any other query of a primary.
 */
export async function fakePostgres(
  first_timeline: string | null,
  { is_citus = false } = {},
): Promise<FakePostgres> {
  const sockets = new Set<Socket>()
  let timeline = first_timeline
  let dials = 0
  let queries = 0
  let is_home = false
  const server = createServer((socket) => {
    sockets.add(socket)
    dials += 1
    socket.on('error', () => undefined)
    socket.once('data', () => {
      socket.write(WELCOME)
      socket.on('data', (chunk) => {
        const isTimelineQuery = timeline === null || String(chunk).includes('timeline')
        if (String(chunk).includes('pg_dist_placement')) {
          socket.write(rowOf({ cluster: String(port), is_home }))
        } else if (chunk[0] === 'X'.charCodeAt(0)) socket.end()
        else if (!isTimelineQuery) {
          queries += 1
          socket.end()
        } else socket.write(rowOf({ timeline, is_citus }))
      })
    })
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  return {
    port,
    dials: () => dials,
    queries: () => queries,
    promote: (newer) => {
      timeline = newer
    },
    giveSchema: (isGiven) => {
      is_home = isGiven
    },
    close: () => {
      server.close()
      for (const socket of sockets) socket.destroy()
    },
  }
}
