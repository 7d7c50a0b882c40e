import { default_link } from '#iso8583/links.ts'
import { encode } from '#iso8583/message.ts'

export type Plastic = { pan: string; expiry: string }

/** Purchases of one cent with random cards, each message another one. */
export function frameMaker(cards: readonly Plastic[]): () => { body: Uint8Array; stan: string } {
  let trace = Math.floor(Math.random() * 900_000)
  let moment = Date.now()
  return () => {
    trace += 1
    // A trace number comes back after a million messages, and then at another second.
    if (trace % 1_000_000 === 0) moment += 1_000
    const card = cards[Math.floor(Math.random() * cards.length)]
    if (card === undefined) throw new Error('there are cards')
    const stan = String(trace % 1_000_000).padStart(6, '0')
    const digits = new Date(moment).toISOString().replace(/\D/g, '')
    const body = encode(default_link, {
      mti: '0100',
      fields: {
        2: card.pan,
        3: '000000',
        4: '000000000001',
        7: digits.slice(4, 14),
        11: stan,
        12: digits.slice(8, 14),
        13: digits.slice(4, 8),
        14: card.expiry,
        18: '5732',
        19: '840',
        22: '810',
        25: '59',
        32: '400001',
        37: digits.slice(8, 14) + stan,
        41: 'TERMINAL',
        42: 'MERCHANT0000001',
        43: 'Bench Shop               City         US',
        49: '840',
      },
    })
    return { body, stan }
  }
}
