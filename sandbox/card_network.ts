import { connect, type Socket } from 'node:net'
import { FrameReader, writeFrame } from '#iso8583/frame.ts'
import { default_link } from '#iso8583/links.ts'
import { decode, encode, type Message, type OutgoingMessage } from '#iso8583/message.ts'
import type { Clock } from '#platform/runtime/clock.ts'
import type { Random } from '#platform/runtime/random.ts'

/**
 * A card network of the sandbox's own: it dials the card host and speaks real frames, as a switch
 * would. It knows nothing of the service but its port.
 */
export type CardNetwork = {
  /** Sends a message and waits for its answer. The trace number and the time are put in here. */
  send(message: OutgoingMessage): Promise<Message>
  /** What a later message needs to name this one. */
  stamp(): { 7: string; 11: string; 12: string; 13: string }
  /** The line in use, dialled and signed on where there is none. */
  connection(): Promise<HostConnection>
  /** A line of its own. */
  dial(): Promise<HostConnection>
  close(): void
}

/** A switch in the field waits about this long before it stands in. */
const RESPONSE_TIMEOUT_MS = 5_000
const TRACE_NUMBERS = 1_000_000

export class NetworkError extends Error {}

type Waiting = { resolve(message: Message): void; reject(cause: Error): void }

export function cardNetwork(port: number, { clock, random }: { clock: Clock; random: Random }) {
  let trace = random.below(TRACE_NUMBERS)
  let connection: HostConnection | null = null
  const network: CardNetwork = {
    send: async (message) => (await network.connection()).send(message),
    connection: async () => {
      if (connection === null || connection.isDown()) {
        connection = await openConnection(port)
        const { 7: moment, 11: stan } = network.stamp()
        await connection.send({ mti: '0800', fields: { 7: moment, 11: stan, 70: '001' } })
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

/** One connection: answers find their question by trace number and type. */
export type HostConnection = {
  send(message: OutgoingMessage): Promise<Message>
  /** Bytes as they are, for faults. */
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
  const waiting = new Map<string, Waiting>()
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
    for (const one of waiting.values()) one.reject(new NetworkError('the line was cut'))
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
  waiting: Map<string, Waiting>,
  message: OutgoingMessage,
): Promise<Message> {
  const { mti, fields } = message
  const key = keyOf(`${mti.slice(0, 2)}${Number(mti[2]) + 1}0`, fields[11])
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => {
      waiting.delete(key)
      reject(new NetworkError('no answer came in time'))
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
