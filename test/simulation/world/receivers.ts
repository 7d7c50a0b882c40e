import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo, Socket } from 'node:net'
import { text } from 'node:stream/consumers'

/** `hang` accepts late; `broken` sends half of a response. */
export type ReceiverMode = 'ok' | 'error' | 'hang' | 'reset' | 'redirect' | 'broken'

type SeenEvent = { body: string; times: number }

/** A webhook endpoint that records every event by account and sequence. */
export type Receiver = {
  url: string
  mode: ReceiverMode
  /** Events that it answered with 2xx. */
  accepted: Map<string, Map<number, SeenEvent>>
  /** Accounts and sequences whose body changed between two attempts. */
  changed: string[]
  close(): void
}

const HANG_MS = 4_000

export async function startReceiver(): Promise<Receiver> {
  const sockets = new Set<Socket>()
  const server = createServer((request, response) => void receive(receiver, request, response))
  server.on('connection', (socket: Socket) => {
    sockets.add(socket)
    socket.on('error', () => undefined)
    socket.on('close', () => sockets.delete(socket))
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const receiver: Receiver = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/hook`,
    mode: 'ok',
    accepted: new Map(),
    changed: [],
    close: () => {
      server.close()
      for (const socket of sockets) socket.destroy()
    },
  }
  return receiver
}

async function receive(
  receiver: Receiver,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const { mode } = receiver
  const body = await text(request).catch(() => null)
  if (body === null) return
  if (mode === 'reset') return void request.socket.resetAndDestroy()
  if (mode === 'error') return void response.writeHead(500).end('no')
  if (mode === 'redirect') return void response.writeHead(302, { location: '/hook' }).end()
  // Half of a response, then the connection ends.
  if (mode === 'broken') {
    request.socket.write('HTTP/1.1 200 OK\r\ncontent-le')
    return void request.socket.destroy()
  }
  if (mode === 'hang') await new Promise((resolve) => setTimeout(resolve, HANG_MS))
  const event = JSON.parse(body) as ReceivedEvent
  if (event.type === 'three_ds.challenge') return void response.end(decide(event))
  record(receiver, event, body)
  response.end('ok')
}

type ReceivedEvent = {
  type: string
  account_id: string
  sequence: number
  data: { object: { challenge_id?: string; amount?: number } }
}

/** The cardholder approves even amounts only. */
function decide({ data }: ReceivedEvent): string {
  const { challenge_id, amount = 0 } = data.object
  const isEven = Math.round(amount * 100) % 2 === 0
  return JSON.stringify({ challenge_id, decision: isEven ? 'approve' : 'decline' })
}

function record(receiver: Receiver, event: ReceivedEvent, body: string): void {
  const { account_id, sequence } = event
  const events = receiver.accepted.get(account_id) ?? new Map<number, SeenEvent>()
  receiver.accepted.set(account_id, events)
  const known = events.get(sequence)
  if (known !== undefined && known.body !== body) receiver.changed.push(`${account_id} ${sequence}`)
  events.set(sequence, { body, times: (known?.times ?? 0) + 1 })
}
