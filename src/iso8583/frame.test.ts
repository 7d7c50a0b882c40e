import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { seed } from '#test/fixtures/iso8583/random_messages.ts'
import { type Frame, FrameReader, writeFrame } from './frame.ts'
import type { FrameShape } from './link.ts'

const plain: FrameShape = { length_bytes: 2, header_bytes: 0 }
const shapes: readonly FrameShape[] = [
  plain,
  { length_bytes: 2, header_bytes: 5 },
  { length_bytes: 4, header_bytes: 0 },
  { length_bytes: 4, header_bytes: 22 },
]

function readAll(shape: FrameShape, chunks: readonly Uint8Array[]) {
  const reader = new FrameReader(shape)
  const frames: Frame[] = []
  for (const chunk of chunks) reader.push(chunk, (frame) => frames.push(frame))
  return { frames, keep_alives: reader.keep_alives, is_between: reader.isBetweenFrames() }
}

function chunksOf(bytes: Buffer, cuts: readonly number[]): Buffer[] {
  const places = [...new Set(cuts.map((cut) => cut % (bytes.length + 1)))].sort((a, b) => a - b)
  return [0, ...places].map((from, at) => bytes.subarray(from, places[at] ?? bytes.length))
}

const bodies = fc.array(fc.option(fc.uint8Array({ minLength: 1, maxLength: 300 })), {
  maxLength: 12,
})

const keepAlive = ({ length_bytes }: FrameShape) => Buffer.alloc(length_bytes)

test('frames and keep-alives do not depend on how the stream is split', (t) => {
  t.diagnostic(`seed ${seed}`)
  const cuts = fc.array(fc.nat(5000), { maxLength: 60 })
  const property = fc.property(fc.constantFrom(...shapes), bodies, cuts, (shape, list, places) => {
    const header = new Uint8Array(shape.header_bytes).fill(7)
    const stream = Buffer.concat(
      list.map((body) => (body === null ? keepAlive(shape) : writeFrame(shape, body, header))),
    )
    const { frames, keep_alives, is_between } = readAll(shape, chunksOf(stream, places))
    const sent = list.filter((body) => body !== null)
    assert.deepEqual(
      frames.map(({ body }) => Buffer.from(body)),
      sent.map(Buffer.from),
    )
    assert.ok(frames.every((frame) => Buffer.from(header).equals(frame.header)))
    assert.equal(keep_alives, list.length - sent.length)
    assert.ok(is_between)
  })
  fc.assert(property, { seed, numRuns: 500 })
})

test('a stream can arrive byte by byte', () => {
  const stream = writeFrame(plain, Buffer.from('hello'))
  const { frames } = readAll(
    plain,
    [...stream].map((byte) => Buffer.from([byte])),
  )
  assert.deepEqual(
    frames.map(({ body }) => String(body)),
    ['hello'],
  )
})

test('a frame of 8 KiB is valid and a longer one is refused', () => {
  const largest = writeFrame(plain, new Uint8Array(8192))
  assert.equal(readAll(plain, [largest]).frames[0]?.body.length, 8192)
  const refusal = { name: 'MalformedMessage', element: null, reason: 'over_length' }
  assert.throws(() => writeFrame(plain, new Uint8Array(8193)), refusal)
  assert.throws(() => readAll(plain, [Buffer.from([0x20, 0x01])]), refusal)
  const huge = { length_bytes: 4, header_bytes: 0 } as const
  assert.throws(() => readAll(huge, [Buffer.from([0xff, 0xff, 0xff, 0xff])]), refusal)
})

test('frames before an invalid length are delivered, later ones are not', () => {
  const reader = new FrameReader(plain)
  const received: string[] = []
  const receive = ({ body }: Frame) => received.push(String(body))
  const stream = Buffer.concat([writeFrame(plain, Buffer.from('good')), Buffer.from([0xff, 0xff])])
  assert.throws(() => reader.push(stream, receive), { reason: 'over_length' })
  const more = writeFrame(plain, Buffer.from('late'))
  assert.throws(() => reader.push(more, receive), { reason: 'over_length' })
  assert.deepEqual(received, ['good'])
})

test('a frame too short for its header is refused', () => {
  const shape = { length_bytes: 2, header_bytes: 5 } as const
  assert.throws(() => readAll(shape, [Buffer.from([0, 5, 1, 2, 3, 4, 5])]), { reason: 'truncated' })
})

test('isBetweenFrames is false inside a frame', () => {
  const stream = writeFrame(plain, Buffer.from('hello'))
  for (let end = 1; end < stream.length; end += 1) {
    assert.equal(readAll(plain, [stream.subarray(0, end)]).is_between, false)
  }
  assert.equal(readAll(plain, [stream]).is_between, true)
})

test('a frame does not retain the chunk it arrived in', () => {
  const chunk = Buffer.from(writeFrame(plain, Buffer.from('hello')))
  const { frames } = readAll(plain, [chunk])
  chunk.fill(0)
  assert.equal(String(frames[0]?.body), 'hello')
})
