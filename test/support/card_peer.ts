import assert from 'node:assert/strict'
import type { Socket } from 'node:net'
import { after } from 'node:test'
import { FrameReader, writeFrame } from '#iso8583/frame.ts'
import { default_link } from '#iso8583/links.ts'
import { decode, encode, type Message, type OutgoingMessage } from '#iso8583/message.ts'
import { eventually } from './eventually.ts'

/** The network's end of a connection to the card host, over any socket. */
export type CardPeer = {
  socket: Socket
  received: Message[]
  isClosed(): boolean
  /** The host ended the connection without a reset. */
  isEnded(): boolean
  write(...messages: readonly (OutgoingMessage | Uint8Array)[]): void
  receive(count: number, within_ms?: number): Promise<Message[]>
  waitForClose(within_ms?: number): Promise<void>
}

export const frameOf = (message: OutgoingMessage): Uint8Array =>
  writeFrame(default_link.frame, encode(default_link, message))

export const managementMessage = (code: string, stan = '000001'): OutgoingMessage => ({
  mti: '0800',
  fields: { 7: '1115040000', 11: stan, 70: code },
})

export function cardPeer(socket: Socket): CardPeer {
  const received: Message[] = []
  const reader = new FrameReader(default_link.frame)
  const seen = { closed: false, ended: false }
  socket.on('data', (chunk: Buffer) =>
    reader.push(chunk, ({ body }) => received.push(decode(default_link, body))),
  )
  socket.on('end', () => {
    seen.ended = true
  })
  socket.on('close', () => {
    seen.closed = true
  })
  socket.on('error', () => undefined)
  after(() => socket.destroy())
  return {
    socket,
    received,
    isClosed: () => seen.closed,
    isEnded: () => seen.ended,
    write: (...messages) => {
      const frames = messages.map((one) => (one instanceof Uint8Array ? one : frameOf(one)))
      socket.write(Buffer.concat(frames))
    },
    receive: async (count, within_ms = 5_000) => {
      const came = await eventually(async () => received.length >= count, { within_ms })
      assert(came, `expected ${count} messages, got ${received.length}`)
      return received
    },
    waitForClose: async (within_ms = 5_000) => {
      assert(
        await eventually(async () => seen.closed, { within_ms }),
        'the host closes the connection',
      )
    },
  }
}
