import type { TransactionRow } from '#domain/transactions/transaction.ts'
import type { Micros } from '#kernel/money.ts'
import type { CardFacts } from './facts.ts'
import { decision } from './record.ts'
import type { CardRequest, Decision } from './request.ts'
import type { Unpriced, Work } from './work.ts'

const CENT_MICROS = 10_000n

/** Part of a purchase in the merchant's currency, in dollars, at the rate of the purchase. */
export function shareOf(head: TransactionRow, minor: bigint): Micros {
  if (head.amount_minor === 0n) return 0n
  const micros = (head.amount_micros * minor) / head.amount_minor
  return ((micros + CENT_MICROS / 2n) / CENT_MICROS) * CENT_MICROS
}

/**
 * A fact with its dollars. Where the network has not said them, the purchase that it belongs to has
 * a rate; where there is none either, nobody knows, and null is the answer: nothing is guessed.
 */
export function priced(request: CardRequest, head: TransactionRow | null): CardRequest | null {
  const { charge } = request
  if (charge.micros !== null) return request
  const hasRate = head !== null && head.amount_micros > 0n && head.currency === charge.currency
  if (!hasRate) return null
  const micros = shareOf(head, charge.minor)
  return { ...request, charge: { ...charge, micros, fx_rate: head.fx_rate } }
}

/** It waits for a person: for its dollars, or for approval. The network hears that it was noted. */
export function setAside(
  work: Work,
  card: CardFacts,
  request: CardRequest,
  waits_for: Unpriced['waits_for'] = 'dollars',
): Decision {
  work.unpriced.push({ id: work.newId('txn'), card, request, waits_for })
  return decision('noted', { network: card.brand })
}
