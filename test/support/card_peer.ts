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
  heard: Message[]
  isClosed(): boolean
  /** Whether the host ended the connection in order, without a reset. */
  isEnded(): boolean
  write(...messages: readonly (OutgoingMessage | Uint8Array)[]): void
  hears(count: number, within_ms?: number): Promise<Message[]>
  closes(within_ms?: number): Promise<void>
}

export const frameOf = (message: OutgoingMessage): Uint8Array =>
  writeFrame(default_link.frame, encode(default_link, message))

export const managementMessage = (code: string, stan = '000001'): OutgoingMessage => ({
  mti: '0800',
  fields: { 7: '1115040000', 11: stan, 70: code },
})

export function cardPeer(socket: Socket): CardPeer {
  const heard: Message[] = []
  const reader = new FrameReader(default_link.frame)
  const seen = { closed: false, ended: false }
  socket.on('data', (chunk: Buffer) =>
    reader.push(chunk, ({ body }) => heard.push(decode(default_link, body))),
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
    heard,
    isClosed: () => seen.closed,
    isEnded: () => seen.ended,
    write: (...messages) => {
      const frames = messages.map((one) => (one instanceof Uint8Array ? one : frameOf(one)))
      socket.write(Buffer.concat(frames))
    },
    hears: async (count, within_ms = 5_000) => {
      const came = await eventually(async () => heard.length >= count, { within_ms })
      assert(came, `${count} answers were expected and ${heard.length} came`)
      return heard
    },
    closes: async (within_ms = 5_000) => {
      assert(await eventually(async () => seen.closed, { within_ms }), 'the host hung up')
    },
  }
}
