import { once } from 'node:events'
import { type AddressInfo, createServer, type Socket } from 'node:net'

const message = (type: string, body: Buffer): Buffer => {
  const length = Buffer.alloc(4)
  length.writeInt32BE(body.length + 4)
  return Buffer.concat([Buffer.from(type), length, body])
}

const READY = message('Z', Buffer.from('I'))
const WELCOME = Buffer.concat([message('R', Buffer.alloc(4)), READY])

/** A row with one null text value: a standby's response to the timeline query. */
const NULL_ROW = Buffer.concat([
  message(
    'T',
    Buffer.concat([
      Buffer.from([0, 1]),
      Buffer.from('timeline\0'),
      Buffer.from([0, 0, 0, 0, 0, 0, 0, 0, 0, 25, 255, 255, 255, 255, 255, 255, 0, 0]),
    ]),
  ),
  message('D', Buffer.from([0, 1, 255, 255, 255, 255])),
  message('C', Buffer.from('SELECT 1\0')),
  READY,
])

export type FakeStandby = { port: number; dials(): number; close(): void }

/** Implements just enough of PostgreSQL's protocol to say that it is in recovery. */
export async function fakeStandby(): Promise<FakeStandby> {
  const sockets = new Set<Socket>()
  let dials = 0
  const server = createServer((socket) => {
    sockets.add(socket)
    dials += 1
    socket.on('error', () => undefined)
    socket.once('data', () => {
      socket.write(WELCOME)
      socket.on('data', (chunk) => {
        if (chunk[0] === 'X'.charCodeAt(0)) socket.end()
        else socket.write(NULL_ROW)
      })
    })
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    port: (server.address() as AddressInfo).port,
    dials: () => dials,
    close: () => {
      server.close()
      for (const socket of sockets) socket.destroy()
    },
  }
}
