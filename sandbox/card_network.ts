import { connect, type Socket } from 'node:net'
import { FrameReader, writeFrame } from '#iso8583/frame.ts'
import { default_link } from '#iso8583/links.ts'
import { decode, encode, type Message, type OutgoingMessage } from '#iso8583/message.ts'
import type { Clock } from '#platform/runtime/clock.ts'
import type { Random } from '#platform/runtime/random.ts'

/**
 * The sandbox's card network: connects to the card host and sends real frames, like a network's
 * switch. It knows only the service's port.
 */
export type CardNetwork = {
  /** Sends a message and waits for its response. */
  send(message: OutgoingMessage): Promise<Message>
  /** The elements that identify a message: new trace number, times and date. */
  stamp(): { 7: string; 11: string; 12: string; 13: string }
  /** The open connection; connects and signs on if there is none. */
  connection(): Promise<HostConnection>
  /** Opens another connection. */
  dial(): Promise<HostConnection>
  close(): void
}

/** Real networks wait about this long before they decide in stand-in. */
const RESPONSE_TIMEOUT_MS = 5_000
const TRACE_NUMBERS = 1_000_000

export class NetworkError extends Error {}

type PendingResponse = { resolve(message: Message): void; reject(cause: Error): void }

export function cardNetwork(port: number, { clock, random }: { clock: Clock; random: Random }) {
  let trace = random.below(TRACE_NUMBERS)
  let connection: HostConnection | null = null
  const network: CardNetwork = {
    send: async (message) => (await network.connection()).send(message),
    connection: async () => {
      if (connection === null || connection.isDown()) {
        connection = await openConnection(port)
        const { 7: transmission_time, 11: stan } = network.stamp()
        await connection.send({
          mti: '0800',
          fields: { 7: transmission_time, 11: stan, 70: '001' },
        })
      }
      return connection
    },
    dial: () => openConnection(port),
    stamp: () => {
      trace = (trace + 1) % TRACE_NUMBERS
      const digits = clock.now().toISOString().replace(/\D/g, '')
      return {
        7: digits.slice(4, 14),
        11: String(trace).padStart(6, '0'),
        12: digits.slice(8, 14),
        13: digits.slice(4, 8),
      }
    },
    close: () => connection?.end(),
  }
  return network
}

/** One connection. Responses are matched to requests by MTI and trace number. */
export type HostConnection = {
  send(message: OutgoingMessage): Promise<Message>
  /** Raw bytes, for faults. */
  write(bytes: Uint8Array): void
  socket: Socket
  isDown(): boolean
  end(): void
}

export function openConnection(port: number): Promise<HostConnection> {
  return new Promise((resolve, reject) => {
    const socket = connect({ port, host: '127.0.0.1', noDelay: true })
    socket.once('error', (cause) => reject(new NetworkError('no host', { cause })))
    socket.once('connect', () => resolve(connectionOver(socket)))
  })
}

const keyOf = (mti: string, stan: string | undefined): string => `${mti}|${stan ?? ''}`

function connectionOver(socket: Socket): HostConnection {
  const waiting = new Map<string, PendingResponse>()
  const reader = new FrameReader(default_link.frame)
  socket.on('data', (chunk: Buffer) =>
    reader.push(chunk, ({ body }) => {
      const message = decode(default_link, body)
      const key = keyOf(message.mti, message.fields[11])
      waiting.get(key)?.resolve(message)
      waiting.delete(key)
    }),
  )
  const fail = () => {
    for (const one of waiting.values()) one.reject(new NetworkError('the connection was closed'))
    waiting.clear()
  }
  socket.on('error', fail)
  socket.on('close', fail)
  return {
    socket,
    send: (message) => sendRequest(socket, waiting, message),
    write: (bytes) => void socket.write(bytes),
    isDown: () => socket.destroyed || !socket.writable,
    end: () => socket.destroy(),
  }
}

function sendRequest(
  socket: Socket,
  waiting: Map<string, PendingResponse>,
  message: OutgoingMessage,
): Promise<Message> {
  const { mti, fields } = message
  const key = keyOf(`${mti.slice(0, 2)}${Number(mti[2]) + 1}0`, fields[11])
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => {
      waiting.delete(key)
      reject(new NetworkError('no response before the timeout'))
    }, RESPONSE_TIMEOUT_MS)
    timer.unref()
    waiting.set(key, {
      resolve: (answer) => {
        clearTimeout(timer)
        resolve(answer)
      },
      reject: (cause) => {
        clearTimeout(timer)
        reject(cause)
      },
    })
    socket.write(writeFrame(default_link.frame, encode(default_link, message)))
  })
}
