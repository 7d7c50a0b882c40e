import type { TransactionRow } from '#domain/transactions/transaction.ts'
import type { Micros } from '#kernel/money.ts'
import type { BatchState, PendingClearing } from './batch_state.ts'
import type { CardState } from './card_state.ts'
import { decision } from './record.ts'
import { type CardRequest, type Charge, type Decision, UNKNOWN_CURRENCY } from './request.ts'

const CENT_MICROS = 10_000n

/** Converts a part of a purchase from the merchant's currency to USD at the purchase's rate. */
export function convertAtPurchaseRate(authorization: TransactionRow, minor: bigint): Micros {
  if (authorization.amount_minor === 0n) return 0n
  const micros = (authorization.amount_micros * minor) / authorization.amount_minor
  return ((micros + CENT_MICROS / 2n) / CENT_MICROS) * CENT_MICROS
}

/**
 * Converts a part of a purchase to USD. Its currency is that of the message that names it: a
 * network may send it in USD, although the purchase is in another one.
 */
export function convertPart(
  authorization: TransactionRow,
  { currency, minor }: Pick<Charge, 'currency' | 'minor'>,
): Micros {
  const isInUsd = currency === 'USD' && authorization.currency !== 'USD'
  return isInUsd ? minor * CENT_MICROS : convertAtPurchaseRate(authorization, minor)
}

/**
 * The amount of an increment or completion in the currency of its purchase, at the purchase's rate:
 * the sum, and later conversions, would otherwise mix two currencies.
 */
export function minorOfPurchase(
  { amount_micros, amount_minor, currency }: TransactionRow,
  charge: Charge,
): bigint {
  const isSame = (charge.currency ?? UNKNOWN_CURRENCY) === currency
  if (isSame || amount_micros === 0n) return charge.minor
  return ((charge.micros ?? 0n) * amount_minor + amount_micros / 2n) / amount_micros
}

/**
 * Adds the USD amount to a clearing. If the network did not send it, the rate of its purchase is
 * used; without a purchase it returns null, and an operator enters the amount.
 */
export function withUsdAmount(
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
  const micros = convertAtPurchaseRate(authorization, charge.minor)
  return { ...request, charge: { ...charge, micros, fx_rate: authorization.fx_rate } }
}

/** The clearing awaits an operator: for its USD amount or for approval. The network gets a 00. */
export function holdForOperator(
  state: BatchState,
  card: CardState,
  request: CardRequest,
  waits_for: PendingClearing['waits_for'] = 'conversion',
): Decision {
  state.pending_clearings.push({ id: state.newId('txn'), card, request, waits_for })
  return decision('noted', { network: card.brand })
}
