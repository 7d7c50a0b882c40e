import { once } from 'node:events'
import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http'
import type { AddressInfo, Socket } from 'node:net'
import { after } from 'node:test'
import { eventually } from './eventually.ts'

export type ReceivedRequest = {
  body: string
  headers: IncomingHttpHeaders
  /** The event in the body. */
  event: { id: string; type: string; sequence: number; data: { object: Record<string, unknown> } }
  at: number
}

export type Receiver = {
  url: string
  received: ReceivedRequest[]
  /** Sends the response; 200 unless a test replaces it. */
  respond: (response: ServerResponse, received: ReceivedRequest) => void
  /** Waits until this many requests were received; throws if they don't arrive in time. */
  waitFor(count: number, within_ms?: number): Promise<ReceivedRequest[]>
  types(): string[]
}

/** A webhook endpoint on this machine that records what it receives. */
export async function startReceiver(): Promise<Receiver> {
  const sockets = new Set<Socket>()
  const server = createServer((request, response) => {
    const chunks: Buffer[] = []
    request.on('data', (chunk: Buffer) => chunks.push(chunk))
    request.on('error', () => undefined)
    request.on('end', () => {
      const body = Buffer.concat(chunks).toString()
      const received = { body, headers: request.headers, event: JSON.parse(body), at: Date.now() }
      receiver.received.push(received)
      receiver.respond(response, received)
    })
  })
  server.on('connection', (socket: Socket) => {
    sockets.add(socket)
    socket.on('error', () => undefined)
    socket.on('close', () => sockets.delete(socket))
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  after(() => {
    for (const socket of sockets) socket.destroy()
    server.close()
  })
  const receiver: Receiver = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/hook`,
    received: [],
    respond: (response) => response.end('ok'),
    waitFor: async (count, within_ms = 20_000) => {
      const isEnough = async () => receiver.received.length >= count
      if (await eventually(isEnough, { within_ms })) return receiver.received
      throw new Error(`expected ${count} deliveries, received ${receiver.received.length}`)
    },
    types: () => receiver.received.map(({ event }) => event.type),
  }
  return receiver
}

export const respondWith =
  (status: number, headers: Record<string, string> = {}, body = ''): Receiver['respond'] =>
  (response) =>
    void response.writeHead(status, headers).end(body)
