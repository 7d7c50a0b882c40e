import type { TransactionRow } from '#domain/transactions/transaction.ts'
import type { Micros } from '#kernel/money.ts'
import type { BatchState, Unpriced } from './batch_state.ts'
import type { CardFacts } from './facts.ts'
import { decision } from './record.ts'
import type { CardRequest, Decision } from './request.ts'

const CENT_MICROS = 10_000n

/** Part of a purchase in the merchant's currency, in dollars, at the rate of the purchase. */
export function shareOf(authorization: TransactionRow, minor: bigint): Micros {
  if (authorization.amount_minor === 0n) return 0n
  const micros = (authorization.amount_micros * minor) / authorization.amount_minor
  return ((micros + CENT_MICROS / 2n) / CENT_MICROS) * CENT_MICROS
}

/**
 * A fact with its dollars. Where the network has not said them, the purchase that it belongs to has
 * a rate; where there is none either, nobody knows, and null is the answer: nothing is guessed.
 */
export function priced(
  request: CardRequest,
  authorization: TransactionRow | null,
): CardRequest | null {
  const { charge } = request
  if (charge.micros !== null) return request
  const hasRate =
    authorization !== null &&
    authorization.amount_micros > 0n &&
    authorization.currency === charge.currency
  if (!hasRate) return null
  const micros = shareOf(authorization, charge.minor)
  return { ...request, charge: { ...charge, micros, fx_rate: authorization.fx_rate } }
}

/** It waits for a person: for its dollars, or for approval. The network hears that it was noted. */
export function setAside(
  state: BatchState,
  card: CardFacts,
  request: CardRequest,
  waits_for: Unpriced['waits_for'] = 'dollars',
): Decision {
  state.unpriced.push({ id: state.newId('txn'), card, request, waits_for })
  return decision('noted', { network: card.brand })
}
