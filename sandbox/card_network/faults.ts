import { writeFrame } from '#iso8583/frame.ts'
import { default_link } from '#iso8583/links.ts'
import { encode, type Message, type OutgoingMessage } from '#iso8583/message.ts'
import { type CardNetwork, type HostConnection, NetworkError } from '#sandbox/card_network.ts'
import { invalid } from '#sandbox/control.ts'
import { originalOf } from './merchant.ts'

/** Network faults on demand. Each one sends the next message in a faulty way, in real frames. */
export type Fault = keyof typeof faults

type Send = (network: CardNetwork, message: OutgoingMessage) => Promise<Message>

export const faults = {
  /** Sends the message again as a repeat; the response must be the same byte for byte. */
  repeat: async (network, message) => {
    const first = await network.send(message)
    return sameAs(first, await network.send(repeatOf(message)))
  },
  /** Sends the reversal before the message. */
  reorder: async (network, message) => {
    await network.send(reversalOf(network, message))
    return network.send(message)
  },
  /** Reverses the message, as after a late response. */
  late: async (network, message) => {
    const answer = await network.send(message)
    await network.send(reversalOf(network, message))
    return answer
  },
  /** Closes the connection after the message and repeats it on a new one. */
  cut: async (network, message) => {
    await cutBehind(await network.connection(), message)
    return network.send(repeatOf(message))
  },
  /** Sends garbage first; the host closes the connection and the network reconnects. */
  garbage: async (network, message) => {
    const connection = await network.connection()
    connection.write(GARBAGE)
    await hungUp(connection)
    return network.send(message)
  },
  /** Another connection sends requests without reading; this one must not wait for it. */
  slow_reader: async (network, message) => {
    const deaf = await network.dial()
    deaf.socket.pause()
    for (let count = 0; count < FLOOD; count += 1) deaf.write(frameOf(echoOf(network)))
    const answer = await network.send(message)
    deaf.end()
    return answer
  },
} as const satisfies Record<string, Send>

const GARBAGE = Buffer.concat([Buffer.from([0, 32]), Buffer.alloc(32, 0xaa)])
const FLOOD = 500
const HANG_UP_MS = 5_000

/** Null clears the fault. */
export function parseFault(body: Record<string, unknown>): Fault | null {
  const { fault, ...others } = body
  const [other] = Object.keys(others)
  if (other !== undefined) throw invalid(other, 'is not recognized')
  if (fault === null) return null
  if (typeof fault === 'string' && Object.hasOwn(faults, fault)) return fault as Fault
  throw invalid('fault', `must be null or one of ${Object.keys(faults).join(', ')}`)
}

const frameOf = (message: OutgoingMessage): Uint8Array =>
  writeFrame(default_link.frame, encode(default_link, message))

/** The same message with the repeat indicator in its MTI. */
const repeatOf = ({ mti, fields }: OutgoingMessage): OutgoingMessage => ({
  mti: `${mti.slice(0, 3)}1`,
  fields,
})

function reversalOf(network: CardNetwork, { mti, fields }: OutgoingMessage): OutgoingMessage {
  const { 48: _, ...repeated } = fields
  return {
    mti: '0420',
    fields: { ...repeated, ...network.stamp(), 90: originalOf({ mti, fields }) },
  }
}

function echoOf(network: CardNetwork): OutgoingMessage {
  const { 7: transmission_time, 11: stan } = network.stamp()
  return { mti: '0800', fields: { 7: transmission_time, 11: stan, 70: '301' } }
}

function sameAs(first: Message, again: Message): Message {
  if (Buffer.compare(first.raw, again.raw) === 0) return first
  throw new NetworkError('the repeat got another response')
}

function cutBehind(connection: HostConnection, message: OutgoingMessage): Promise<void> {
  return new Promise((done) => {
    connection.socket.once('close', () => done())
    connection.socket.write(frameOf(message), () => connection.end())
  })
}

function hungUp(connection: HostConnection): Promise<void> {
  return new Promise((done, failed) => {
    const timer = setTimeout(
      () => failed(new NetworkError('the connection stays open')),
      HANG_UP_MS,
    )
    connection.socket.once('close', () => {
      clearTimeout(timer)
      done()
    })
  })
}
