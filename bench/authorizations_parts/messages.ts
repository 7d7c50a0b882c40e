import { default_link } from '#iso8583/links.ts'
import { decode, encode } from '#iso8583/message.ts'

export type Plastic = { pan: string; expiry: string }

type Template = { body: Buffer; offsets: Record<number, number> }

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
  return { body: Buffer.from(body), offsets: decode(default_link, body).offsets }
}

/** Purchases with random cards, each message another one. */
export function frameMaker(cards: readonly Plastic[]): () => { body: Uint8Array; stan: string } {
  const templates = cards.map(templateOf)
  let trace = Math.floor(Math.random() * 900_000)
  let moment = Date.now()
  let digits = digitsOf(moment)
  return () => {
    trace += 1
    // A trace number comes back after a million messages, and then at another second.
    if (trace % 1_000_000 === 0) {
      moment += 1_000
      digits = digitsOf(moment)
    }
    const template = templates[Math.floor(Math.random() * templates.length)]
    if (template === undefined) throw new Error('there are cards')
    const stan = String(trace % 1_000_000).padStart(6, '0')
    const body = Buffer.from(template.body)
    const put = (element: number, value: string) =>
      body.write(value, template.offsets[element] ?? 0, 'latin1')
    put(7, digits.slice(4))
    put(11, stan)
    put(12, digits.slice(8))
    put(13, digits.slice(4, 8))
    put(37, digits.slice(8) + stan)
    return { body, stan }
  }
}

const digitsOf = (moment: number): string =>
  new Date(moment).toISOString().replace(/\D/g, '').slice(0, 14)

/** Trace number and response code of an answer; answers of one shape have them at one place. */
export function answerReader(): (body: Uint8Array) => { stan: string; code: string } {
  const shapes = new Map<string, Record<number, number>>()
  return (body) => {
    const bytes = body as Buffer
    const bitmap = bytes.toString('latin1', 4, 12)
    let offsets = shapes.get(bitmap)
    if (offsets === undefined) {
      offsets = decode(default_link, body).offsets
      shapes.set(bitmap, offsets)
    }
    const [stan_at = 0, code_at = 0] = [offsets[11], offsets[39]]
    return {
      stan: bytes.toString('latin1', stan_at, stan_at + 6),
      code: bytes.toString('latin1', code_at, code_at + 2),
    }
  }
}
