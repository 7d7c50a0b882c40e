import { once } from 'node:events'
import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http'
import type { AddressInfo, Socket } from 'node:net'
import { after } from 'node:test'
import { eventually } from './eventually.ts'

export type Heard = {
  body: string
  headers: IncomingHttpHeaders
  /** The event in the body. */
  event: { id: string; type: string; sequence: number; data: { object: Record<string, unknown> } }
  at: number
}

export type Receiver = {
  url: string
  heard: Heard[]
  /** What it answers from now on; 200 to begin with. */
  answer: (response: ServerResponse, heard: Heard) => void
  /** Waits until this many were heard, and fails where they were not. */
  hears(count: number, within_ms?: number): Promise<Heard[]>
  types(): string[]
}

/** An endpoint on this machine that somebody else could have written. */
export async function startReceiver(): Promise<Receiver> {
  const sockets = new Set<Socket>()
  const server = createServer((request, response) => {
    const chunks: Buffer[] = []
    request.on('data', (chunk: Buffer) => chunks.push(chunk))
    request.on('error', () => undefined)
    request.on('end', () => {
      const body = Buffer.concat(chunks).toString()
      const heard = { body, headers: request.headers, event: JSON.parse(body), at: Date.now() }
      receiver.heard.push(heard)
      receiver.answer(response, heard)
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
    heard: [],
    answer: (response) => response.end('ok'),
    hears: async (count, within_ms = 5_000) => {
      const isEnough = async () => receiver.heard.length >= count
      if (await eventually(isEnough, { within_ms })) return receiver.heard
      throw new Error(`${count} deliveries were expected and ${receiver.heard.length} came`)
    },
    types: () => receiver.heard.map(({ event }) => event.type),
  }
  return receiver
}

export const answering =
  (status: number, headers: Record<string, string> = {}, body = ''): Receiver['answer'] =>
  (response) =>
    void response.writeHead(status, headers).end(body)
