import { once } from 'node:events'
import { type AddressInfo, createServer, type Socket } from 'node:net'

const message = (type: string, body: Buffer): Buffer => {
  const length = Buffer.alloc(4)
  length.writeInt32BE(body.length + 4)
  return Buffer.concat([Buffer.from(type), length, body])
}

const READY = message('Z', Buffer.from('I'))
const WELCOME = Buffer.concat([message('R', Buffer.alloc(4)), READY])

/** The response to the timeline query: a row with one text value. */
function timelineRow(timeline: string | null): Buffer {
  const length = Buffer.alloc(4)
  length.writeInt32BE(timeline === null ? -1 : timeline.length)
  const value = Buffer.concat([Buffer.from([0, 1]), length, Buffer.from(timeline ?? '')])
  return Buffer.concat([
    message(
      'T',
      Buffer.concat([
        Buffer.from([0, 1]),
        Buffer.from('timeline\0'),
        Buffer.from([0, 0, 0, 0, 0, 0, 0, 0, 0, 25, 255, 255, 255, 255, 255, 255, 0, 0]),
      ]),
    ),
    message('D', value),
    message('C', Buffer.from('SELECT 1\0')),
    READY,
  ])
}

export type FakePostgres = {
  port: number
  dials(): number
  /** Makes it a primary on this timeline. */
  promote(timeline: string): void
  close(): void
}

/**
 * Implements just enough of PostgreSQL's protocol to say that it is in recovery (null) or a primary
 * on this timeline. It closes the connection at any other query of a primary.
 */
export async function fakePostgres(first_timeline: string | null): Promise<FakePostgres> {
  const sockets = new Set<Socket>()
  let timeline = first_timeline
  let dials = 0
  const server = createServer((socket) => {
    sockets.add(socket)
    dials += 1
    socket.on('error', () => undefined)
    socket.once('data', () => {
      socket.write(WELCOME)
      socket.on('data', (chunk) => {
        const isTimelineQuery = timeline === null || String(chunk).includes('timeline')
        if (chunk[0] === 'X'.charCodeAt(0) || !isTimelineQuery) socket.end()
        else socket.write(timelineRow(timeline))
      })
    })
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    port: (server.address() as AddressInfo).port,
    dials: () => dials,
    promote: (newer) => {
      timeline = newer
    },
    close: () => {
      server.close()
      for (const socket of sockets) socket.destroy()
    },
  }
}
