import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { golden_frames } from '#test/fixtures/iso8583/golden_frames.ts'
import { messageArbitrary, randomIntOf, seed } from '#test/fixtures/iso8583/random_messages.ts'
import type { Link } from './link.ts'
import { links } from './links.ts'
import { MalformedMessage } from './malformed_message.ts'
import { decode, encode, type Message } from './message.ts'

const all_links: readonly Link[] = Object.values(links)

for (const link of all_links) {
  test(`${link.name}: decoding and encoding again gives the same bytes`, (t) => {
    t.diagnostic(`seed ${seed}`)
    const property = fc.property(messageArbitrary(link), (message) => {
      const bytes = encode(link, message)
      const read = decode(link, bytes)
      assert.equal(read.mti, message.mti)
      assert.deepEqual(read.fields, message.fields)
      assert.deepEqual(encode(link, read), bytes)
    })
    fc.assert(property, { seed, numRuns: 400 })
  })

  test(`${link.name}: every truncation and every appended byte is refused`, (t) => {
    t.diagnostic(`seed ${seed}`)
    const property = fc.property(messageArbitrary(link), fc.nat(255), (message, byte) => {
      const bytes = encode(link, message)
      for (let end = 0; end < bytes.length; end += 1) {
        assert.equal(decodeOrNull(link, bytes.subarray(0, end)), null)
      }
      const appended = Buffer.concat([bytes, Buffer.from([byte])])
      assert.throws(() => decode(link, appended), { reason: 'trailing_bytes' })
    })
    fc.assert(property, { seed, numRuns: 40 })
  })
}

/** Null when refused as it should be; anything else that is thrown fails the test. */
function decodeOrNull(link: Link, bytes: Uint8Array): Message | null {
  try {
    return decode(link, bytes)
  } catch (fault) {
    if (fault instanceof MalformedMessage) return null
    throw fault
  }
}

/** A message that was read and written again has the same content. */
function requireStable(link: Link, message: Message): void {
  const again = decode(link, encode(link, message))
  assert.equal(again.mti, message.mti)
  assert.deepEqual(again.fields, message.fields)
}

const FRAMES = 20_000 * Number(process.env['FLORIN_TEST_LENGTH'] ?? 1)

test(`${FRAMES} random frames decode or throw MalformedMessage`, (t) => {
  t.diagnostic(`seed ${seed}`)
  const randomInt = randomIntOf(seed)
  // Half of them open with a good MTI, so that the garbage also reaches bitmaps and elements.
  const openings = all_links.map((link) => {
    return encode(link, { mti: '0100', fields: {} }).subarray(0, link.mti_bytes)
  })
  for (let count = 0; count < FRAMES; count += 1) {
    const index = count % all_links.length
    const link = all_links[index] as Link
    const bytes = Buffer.allocUnsafe(randomInt(120))
    for (let at = 0; at < bytes.length; at += 1) bytes[at] = randomInt(256)
    if (randomInt(2) === 0) bytes.set((openings[index] as Uint8Array).subarray(0, bytes.length))
    const message = decodeOrNull(link, bytes)
    if (message !== null) requireStable(link, message)
  }
})

/** Real frames of each link: the golden ones and as many random ones again. */
function realFrames(link: Link): Uint8Array[] {
  const golden = golden_frames.filter((frame) => frame.link === link.name).map(({ bytes }) => bytes)
  const random = fc.sample(messageArbitrary(link), { seed, numRuns: 40 })
  return [...golden, ...random.map((message) => encode(link, message))]
}

function mutated(frame: Uint8Array, randomInt: (bound: number) => number): Buffer {
  const at = randomInt(frame.length)
  const length = randomInt(4)
  const part = Buffer.from(Array.from({ length }, () => randomInt(256)))
  // Replaces, inserts or removes a few bytes, early ones and late ones alike.
  const resume = at + randomInt(4)
  return Buffer.concat([frame.subarray(0, at), part, frame.subarray(resume)])
}

test(`${FRAMES} mutated messages decode or throw MalformedMessage`, (t) => {
  t.diagnostic(`seed ${seed}`)
  const randomInt = randomIntOf(seed + 1)
  const frames = all_links.map(realFrames)
  let read = 0
  for (let count = 0; count < FRAMES; count += 1) {
    const index = count % all_links.length
    const link = all_links[index] as Link
    const own = frames[index] as Uint8Array[]
    const message = decodeOrNull(link, mutated(own[randomInt(own.length)] as Uint8Array, randomInt))
    if (message === null) continue
    read += 1
    requireStable(link, message)
  }
  assert.ok(read > 0 && read < FRAMES, 'mutations both hit and miss')
})
