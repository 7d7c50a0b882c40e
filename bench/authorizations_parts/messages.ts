import { elementsOffset } from '#iso8583/bitmap.ts'
import { encodedSizeOf } from '#iso8583/link.ts'
import { default_link } from '#iso8583/links.ts'
import { decode, encode } from '#iso8583/message.ts'

export type BenchCard = { pan: string; expiry: string }

type FieldOffsets = Readonly<Record<number, number>>
type Template = { body: Buffer; offsets: FieldOffsets }

const TRACES = 1_000_000
const TRACE_DIGITS = 6
const ZERO = 0x30

/** A purchase of one cent, encoded once. Fields that differ between messages are overwritten. */
function templateOf({ pan, expiry }: BenchCard): Template {
  const body = encode(default_link, {
    mti: '0100',
    fields: {
      2: pan,
      3: '000000',
      4: '000000000001',
      7: '0101000000',
      11: '000000',
      12: '000000',
      13: '0101',
      14: expiry,
      18: '5732',
      19: '840',
      22: '810',
      25: '59',
      32: '400001',
      37: '000000000000',
      41: 'TERMINAL',
      42: 'MERCHANT0000001',
      43: 'Bench Shop               City         US',
      49: '840',
    },
  })
  return { body: Buffer.from(body), offsets: findOffsets(body) }
}

/** The offset of each element's value. */
function findOffsets(body: Uint8Array): FieldOffsets {
  const { fields } = decode(default_link, body)
  const offsets: Record<number, number> = {}
  let at = elementsOffset(default_link, false)
  for (const layout of default_link.elements) {
    const value = fields[layout.element]
    if (value === undefined) continue
    offsets[layout.element] = at + layout.prefix_bytes
    at += encodedSizeOf(layout, value)
  }
  return offsets
}

/** Generates unique purchases with random cards. */
export function frameMaker(cards: readonly BenchCard[]): () => { body: Buffer; trace: number } {
  const templates = cards.map(templateOf)
  let count = Math.floor(Math.random() * 900_000)
  let timestamp_ms = Date.now()
  for (const template of templates) writeTimestamp(template, timestamp_ms)
  return () => {
    count += 1
    const trace = count % TRACES
    // Trace numbers repeat after a million messages; another timestamp keeps messages unique.
    if (trace === 0) {
      timestamp_ms += 1_000
      for (const template of templates) writeTimestamp(template, timestamp_ms)
    }
    const template = templates[Math.floor(Math.random() * templates.length)]
    if (template === undefined) throw new Error('there are cards')
    const { offsets } = template
    const body = Buffer.allocUnsafe(template.body.length)
    body.set(template.body)
    writeTrace(body, offsets[11] ?? 0, trace)
    writeTrace(body, (offsets[37] ?? 0) + TRACE_DIGITS, trace)
    return { body, trace }
  }
}

function writeTimestamp({ body, offsets }: Template, timestamp_ms: number): void {
  const digits = new Date(timestamp_ms).toISOString().replace(/\D/g, '')
  const writeField = (element: number, value: string) =>
    body.write(value, offsets[element] ?? 0, 'latin1')
  writeField(7, digits.slice(4, 14))
  writeField(12, digits.slice(8, 14))
  writeField(13, digits.slice(4, 8))
  writeField(37, digits.slice(8, 14))
}

function writeTrace(body: Buffer, start: number, trace: number): void {
  let rest = trace
  for (let at = start + TRACE_DIGITS - 1; at >= start; at -= 1) {
    body[at] = ZERO + (rest % 10)
    rest = Math.floor(rest / 10)
  }
}

type ParsedResponse = { trace: number; code: string; is_approved: boolean }

const BITMAP_START = 4
const BITMAP_END = 12

/** Reads trace number and response code. Responses with the same layout share their offsets. */
export function responseReader(): (body: Uint8Array) => ParsedResponse {
  let sample: Uint8Array = new Uint8Array()
  let offsets: FieldOffsets = {}
  return (body) => {
    if (!hasSameLayout(sample, body)) {
      sample = body
      offsets = findOffsets(body)
    }
    const [trace_at = 0, code_at = 0] = [offsets[11], offsets[39]]
    let trace = 0
    for (let at = trace_at; at < trace_at + TRACE_DIGITS; at += 1) {
      trace = trace * 10 + (body[at] as number) - ZERO
    }
    const code = String.fromCharCode(body[code_at] as number, body[code_at + 1] as number)
    return { trace, code, is_approved: code === '00' }
  }
}

/** Variable-length elements come after the two fields or have the same length in every response. */
function hasSameLayout(sample: Uint8Array, body: Uint8Array): boolean {
  if (sample.length !== body.length) return false
  for (let at = BITMAP_START; at < BITMAP_END; at += 1) if (sample[at] !== body[at]) return false
  return true
}
