import { assert } from '#kernel/assert.ts'
import { type FrameShape, MESSAGE_MAX_BYTES } from './link.ts'
import { MalformedMessage, type MalformedReason } from './malformed_message.ts'

export type Frame = { header: Uint8Array; body: Uint8Array }

const NO_HEADER = new Uint8Array()

/**
 * Splits a byte stream into frames, however TCP split or joined it. Every frame has its own buffer,
 * so a retained message does not retain its whole chunk. After an invalid length the frame
 * boundaries are lost, and the reader throws on everything that follows.
 */
export class FrameReader {
  readonly #shape: FrameShape
  #length = 0
  #length_bytes_seen = 0
  #payload: Buffer | null = null
  #filled = 0
  #fault: MalformedMessage | null = null
  /** The number of frames of length zero, which peers send to keep the connection open. */
  keep_alives = 0

  constructor(shape: FrameShape) {
    this.#shape = shape
  }

  /** False while a frame is incomplete. */
  isBetweenFrames(): boolean {
    return this.#payload === null && this.#length_bytes_seen === 0
  }

  /** Delivers the frames before an invalid length, then throws MalformedMessage. */
  push(chunk: Uint8Array, onFrame: (frame: Frame) => void): void {
    if (this.#fault !== null) throw this.#fault
    let at = 0
    while (at < chunk.length) {
      if (this.#payload === null) {
        this.#length = this.#length * 256 + (chunk[at] as number)
        this.#length_bytes_seen += 1
        at += 1
        if (this.#length_bytes_seen === this.#shape.length_bytes) this.#begin()
        continue
      }
      const part = chunk.subarray(at, at + this.#payload.length - this.#filled)
      this.#payload.set(part, this.#filled)
      this.#filled += part.length
      at += part.length
      if (this.#filled === this.#payload.length) onFrame(this.#finish(this.#payload))
    }
  }

  #begin(): void {
    const length = this.#length
    this.#length = 0
    this.#length_bytes_seen = 0
    if (length === 0) {
      this.keep_alives += 1
      return
    }
    if (length > MESSAGE_MAX_BYTES) this.#fail('over_length')
    if (length <= this.#shape.header_bytes) this.#fail('truncated')
    this.#payload = Buffer.allocUnsafe(length)
    this.#filled = 0
  }

  #finish(payload: Buffer): Frame {
    this.#payload = null
    const { header_bytes } = this.#shape
    if (header_bytes === 0) return { header: NO_HEADER, body: payload }
    return { header: payload.subarray(0, header_bytes), body: payload.subarray(header_bytes) }
  }

  #fail(reason: MalformedReason): never {
    this.#fault = new MalformedMessage(null, reason)
    throw this.#fault
  }
}

/** Without a header, a link that has one gets zeros. */
export type OutgoingFrame = { body: Uint8Array; header?: Uint8Array | undefined }

/** Encodes several frames for one write. */
export function writeFrames(shape: FrameShape, frames: readonly OutgoingFrame[]): Uint8Array {
  const { length_bytes, header_bytes } = shape
  let size = 0
  for (const { body, header } of frames) {
    assert(header === undefined || header.length === header_bytes, 'the header has its length')
    const length = header_bytes + body.length
    if (length > MESSAGE_MAX_BYTES) throw new MalformedMessage(null, 'over_length')
    size += length_bytes + length
  }
  const bytes = Buffer.allocUnsafe(size)
  let at = 0
  for (const { body, header } of frames) {
    at = bytes.writeUIntBE(header_bytes + body.length, at, length_bytes)
    if (header === undefined) bytes.fill(0, at, at + header_bytes)
    else bytes.set(header, at)
    bytes.set(body, at + header_bytes)
    at += header_bytes + body.length
  }
  return bytes
}

export function writeFrame(shape: FrameShape, body: Uint8Array, header?: Uint8Array): Uint8Array {
  return writeFrames(shape, [{ body, header }])
}
