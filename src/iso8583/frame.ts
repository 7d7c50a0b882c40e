import { assert } from '#kernel/assert.ts'
import { type FrameShape, MESSAGE_MAX_BYTES } from './link.ts'
import { MalformedMessage } from './malformed_message.ts'

export type Frame = { header: Uint8Array; body: Uint8Array }

const NO_HEADER = new Uint8Array()

/**
 * Cuts a byte stream into frames, however the stream was split or joined on its way. Every frame
 * has a buffer of its own, so a kept message keeps no more than itself. After a length that cannot
 * be right the stream has no meaning any more: that reader refuses everything that follows.
 */
export class FrameReader {
  readonly #shape: FrameShape
  #length = 0
  #length_bytes_seen = 0
  #payload: Buffer | null = null
  #filled = 0
  #refusal: MalformedMessage | null = null
  /** Frames of length zero, which peers send to keep the connection open. */
  keep_alives = 0

  constructor(shape: FrameShape) {
    this.#shape = shape
  }

  /** Whether the stream stands between two frames; a connection that ends elsewhere was cut. */
  isBetweenFrames(): boolean {
    return this.#payload === null && this.#length_bytes_seen === 0
  }

  /** Frames that stand before a bad length are handed over before the refusal is thrown. */
  push(chunk: Uint8Array, receive: (frame: Frame) => void): void {
    if (this.#refusal !== null) throw this.#refusal
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
      if (this.#filled === this.#payload.length) receive(this.#finish(this.#payload))
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
    if (length > MESSAGE_MAX_BYTES) this.#refuse(new MalformedMessage(null, 'over_length'))
    if (length <= this.#shape.header_bytes) this.#refuse(new MalformedMessage(null, 'truncated'))
    this.#payload = Buffer.allocUnsafe(length)
    this.#filled = 0
  }

  #finish(payload: Buffer): Frame {
    this.#payload = null
    const { header_bytes } = this.#shape
    if (header_bytes === 0) return { header: NO_HEADER, body: payload }
    return { header: payload.subarray(0, header_bytes), body: payload.subarray(header_bytes) }
  }

  #refuse(refusal: MalformedMessage): never {
    this.#refusal = refusal
    throw refusal
  }
}

/** A link with a header gets zeros where the caller has none to give. */
export type OutgoingFrame = { body: Uint8Array; header?: Uint8Array | undefined }

/** The bytes of frames that leave together. */
export function writeFrames(shape: FrameShape, frames: readonly OutgoingFrame[]): Uint8Array {
  const { length_bytes, header_bytes } = shape
  let size = 0
  for (const { body, header } of frames) {
    assert(header === undefined || header.length === header_bytes, 'a header has its own length')
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

export function writeKeepAlive(shape: FrameShape): Uint8Array {
  return Buffer.alloc(shape.length_bytes)
}
