import { elementsStart } from '#iso8583/bitmap.ts'
import { sizeOf } from '#iso8583/link.ts'
import { default_link } from '#iso8583/links.ts'
import { decode, encode } from '#iso8583/message.ts'

export type Plastic = { pan: string; expiry: string }

type Places = Readonly<Record<number, number>>
type Template = { body: Buffer; places: Places }

const TRACES = 1_000_000
const TRACE_DIGITS = 6
const ZERO = 0x30

/** A purchase of one cent, encoded once: what differs between messages is written over it. */
function templateOf({ pan, expiry }: Plastic): Template {
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
  return { body: Buffer.from(body), places: placesIn(body) }
}

/** Where the values of a message begin, by element. */
function placesIn(body: Uint8Array): Places {
  const { fields } = decode(default_link, body)
  const places: Record<number, number> = {}
  let at = elementsStart(default_link, false)
  for (const layout of default_link.elements) {
    const value = fields[layout.element]
    if (value === undefined) continue
    places[layout.element] = at + layout.prefix_bytes
    at += sizeOf(layout, value)
  }
  return places
}

/** Purchases with random cards, each message another one. */
export function frameMaker(cards: readonly Plastic[]): () => { body: Buffer; trace: number } {
  const templates = cards.map(templateOf)
  let count = Math.floor(Math.random() * 900_000)
  let moment = Date.now()
  for (const template of templates) date(template, moment)
  return () => {
    count += 1
    const trace = count % TRACES
    // A trace number comes back after a million messages, and then at another second.
    if (trace === 0) {
      moment += 1_000
      for (const template of templates) date(template, moment)
    }
    const template = templates[Math.floor(Math.random() * templates.length)]
    if (template === undefined) throw new Error('there are cards')
    const { places } = template
    const body = Buffer.allocUnsafe(template.body.length)
    body.set(template.body)
    putTrace(body, places[11] ?? 0, trace)
    putTrace(body, (places[37] ?? 0) + TRACE_DIGITS, trace)
    return { body, trace }
  }
}

function date({ body, places }: Template, moment: number): void {
  const digits = new Date(moment).toISOString().replace(/\D/g, '')
  const put = (element: number, value: string) => body.write(value, places[element] ?? 0, 'latin1')
  put(7, digits.slice(4, 14))
  put(12, digits.slice(8, 14))
  put(13, digits.slice(4, 8))
  put(37, digits.slice(8, 14))
}

function putTrace(body: Buffer, start: number, trace: number): void {
  let rest = trace
  for (let at = start + TRACE_DIGITS - 1; at >= start; at -= 1) {
    body[at] = ZERO + (rest % 10)
    rest = Math.floor(rest / 10)
  }
}

type Read = { trace: number; is_approved: boolean }

const BITMAP_START = 4
const BITMAP_END = 12

/** Trace number and response code of an answer; answers of one shape have them at one place. */
export function answerReader(): (body: Uint8Array) => Read {
  let shape: Uint8Array = new Uint8Array()
  let places: Places = {}
  return (body) => {
    if (!isOfShape(shape, body)) {
      shape = body
      places = placesIn(body)
    }
    const [trace_at = 0, code_at = 0] = [places[11], places[39]]
    let trace = 0
    for (let at = trace_at; at < trace_at + TRACE_DIGITS; at += 1) {
      trace = trace * 10 + (body[at] as number) - ZERO
    }
    return { trace, is_approved: body[code_at] === ZERO && body[code_at + 1] === ZERO }
  }
}

/** Elements of variable length stand behind the two, or have one length in every answer. */
function isOfShape(shape: Uint8Array, body: Uint8Array): boolean {
  if (shape.length !== body.length) return false
  for (let at = BITMAP_START; at < BITMAP_END; at += 1) if (shape[at] !== body[at]) return false
  return true
}
