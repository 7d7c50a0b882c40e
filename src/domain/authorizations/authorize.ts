import type { DeclineCode } from '#contract/decline.ts'
import type { TransactionRow } from '#domain/transactions/transaction.ts'
import { type BatchState, change, type RequestOnCard } from './batch_state.ts'
import type { CardState } from './card_state.ts'
import { attemptsAreUsedUp, findObjections, withFailure } from './checks.ts'
import { availableBalance, debitCard, debtOf, hold, keepUntilExpiry } from './money.ts'
import { minorOfPurchase } from './price.ts'
import { decision, declined, emitTransactionEvent, record } from './record.ts'
import type { CardRequest, Decision } from './request.ts'
import { countAuthorization } from './spending.ts'
import { challengeFor } from './three_ds.ts'
import { useCard } from './use_card.ts'

/** Decides a request: all checks, then the effect of an approval. */
export function authorize(state: BatchState, request: CardRequest): Decision {
  const card = state.cards.get(request.pan_hash)
  if (card === undefined) return declined('invalid_card')
  const request_on_card = { card, request }
  const incremented = incrementedBy(state, request_on_card)
  const objections = findObjections({
    request,
    card,
    incremented: incremented === null ? 0n : incremented.captured_micros + incremented.open_micros,
    now: state.now,
    is_paused: state.is_paused,
    is_reversed: state.early_reversals.has(request.identity),
    challenge: challengeFor(state, card, request),
    available: availableBalance(state, card),
    owed: debtOf(state, card),
  })
  const is_code_right = codeResult(state, request_on_card, objections)
  if (objections.length === 0) return { ...approve(state, request_on_card), is_code_right }
  const part = partOf(state, request_on_card, objections)
  if (part === null) return { ...decline(state, request_on_card, objections), is_code_right }
  const { minor, micros } = part.request.charge
  return { ...approve(state, part), is_code_right, part: { minor, micros } }
}

/** Evaluated before a decline counts the attempt, so the fifth wrong CVV is still reported. */
function codeResult(
  { now }: BatchState,
  { card, request }: RequestOnCard,
  objections: readonly DeclineCode[],
): boolean | null {
  if (request.isCodeRight === null || attemptsAreUsedUp(card, now)) return null
  return !objections.includes('cvv_mismatch')
}

const CENT_MICROS = 10_000n
const PART_MIN_MICROS = 1_000_000n

/** A partial approval of the available balance, if funds are the only objection. */
function partOf(
  state: BatchState,
  request_on_card: RequestOnCard,
  objections: readonly DeclineCode[],
): RequestOnCard | null {
  const { card, request } = request_on_card
  const isWanted = state.partial_approvals && request.is_partial_ok && request.kind === 'authorize'
  const isAllThatIsWrong = objections.length === 1 && objections[0] === 'insufficient_funds'
  if (!isWanted || !isAllThatIsWrong || debtOf(state, card) > 0n) return null
  const micros = (availableBalance(state, card) / CENT_MICROS) * CENT_MICROS
  const { charge } = request
  if (charge.micros === null || micros < PART_MIN_MICROS) return null
  const minor = (charge.minor * micros) / charge.micros
  return { card, request: { ...request, charge: { ...charge, minor, micros } } }
}

function approve(state: BatchState, request_on_card: RequestOnCard): Decision {
  const { card, request } = request_on_card
  const authorization_code = state.newAuthorizationCode()
  const network = card.brand
  switch (request.kind) {
    case 'balance':
      return decision('approved', {
        authorization_code,
        network,
        available_micros: availableBalance(state, card),
      })
    case 'verify':
      useCard(state, card, { ...request.merchant, amount_micros: 0n })
      return decision('approved', { authorization_code, network })
    case 'credit':
      return decision('approved', { authorization_code, network })
    case 'debit':
      return approved(state, card, recordDebit(state, request_on_card, authorization_code))
    case 'increment': {
      const authorization = increment(state, request_on_card)
      if (authorization === null) break
      return approved(state, card, authorization)
    }
  }
  return approved(state, card, recordPurchase(state, request_on_card, authorization_code))
}

function approved(state: BatchState, card: CardState, transaction: TransactionRow): Decision {
  const { authorization_code } = transaction
  useCard(state, card, transaction)
  return decision('approved', { authorization_code, network: card.brand, transaction })
}

function recordPurchase(
  state: BatchState,
  { card, request }: RequestOnCard,
  authorization_code: string,
) {
  const amount = request.charge.micros ?? 0n
  const row = recordAuthorization(
    state,
    { card, request },
    {
      authorization_code,
      open_micros: amount,
      expires_at: state.expires_at,
    },
  )
  row.held_micros = hold(state, card, row, amount)
  emitTransactionEvent(state, row, 'authorized')
  return row
}

/** The rows of a purchase name its authorization, which names itself. */
export function recordAuthorization(
  state: BatchState,
  request_on_card: RequestOnCard,
  fields: Partial<TransactionRow>,
) {
  const row = record(state, request_on_card, {
    type: 'authorization',
    status: 'pending',
    ...fields,
  })
  row.authorization_id = row.id
  if (row.open_micros > 0n) keepUntilExpiry(state, request_on_card.card)
  countAuthorization(state, request_on_card.card, {
    authorization: row,
    micros: row.amount_micros,
    already: 0n,
  })
  useChallenge(state, row)
  return row
}

function useChallenge(state: BatchState, row: TransactionRow): void {
  const challenge = state.challenges.get(row.three_ds_challenge_id ?? '')
  if (challenge?.status !== 'approved') return
  challenge.used_by = row.id
  state.used_challenges.push(challenge)
}

/** A single-message purchase emits both events: authorized and captured. */
function recordDebit(
  state: BatchState,
  request_on_card: RequestOnCard,
  authorization_code: string,
): TransactionRow {
  const { card, request } = request_on_card
  const amount = request.charge.micros ?? 0n
  const row = recordAuthorization(state, request_on_card, {
    status: 'captured',
    authorization_code,
    captured_micros: amount,
    is_single_message: true,
    settled_at: state.now,
  })
  emitTransactionEvent(state, row, 'authorized')
  debitCard(state, card, row, amount)
  const capture = record(state, request_on_card, {
    type: 'capture',
    status: 'settled',
    authorization_id: row.id,
    authorization_code,
    captured_micros: amount,
    settled_at: state.now,
    three_ds_result: row.three_ds_result,
    three_ds_challenge_id: row.three_ds_challenge_id,
  })
  emitTransactionEvent(state, capture, 'captured')
  return row
}

/** The authorization an increment adds to; null if unknown or closed: then it is a new purchase. */
function incrementedBy(state: BatchState, { card, request }: RequestOnCard): TransactionRow | null {
  if (request.kind !== 'increment') return null
  const authorization = state.purchases.ofReversal(card, request)
  return authorization?.type === 'authorization' && authorization.open_micros > 0n
    ? authorization
    : null
}

function increment(state: BatchState, { card, request }: RequestOnCard): TransactionRow | null {
  const authorization = incrementedBy(state, { card, request })
  if (authorization === null) return null
  const amount = request.charge.micros ?? 0n
  const held = hold(state, card, authorization, amount)
  countAuthorization(state, card, {
    authorization,
    micros: amount,
    already: authorization.open_micros,
  })
  change(state, authorization, {
    amount_micros: authorization.amount_micros + amount,
    amount_minor: authorization.amount_minor + minorOfPurchase(authorization, request.charge),
    open_micros: authorization.open_micros + amount,
    held_micros: authorization.held_micros + held,
    expires_at: state.expires_at,
  })
  // Earlier than before, if this batch began before the one that it waited for.
  keepUntilExpiry(state, card)
  state.purchases.addChange(request.identity, {
    transaction_id: authorization.id,
    is_request: true,
  })
  emitTransactionEvent(state, authorization, 'authorized')
  return authorization
}

const WRONG_ATTEMPTS: ReadonlySet<DeclineCode> = new Set(['cvv_mismatch', 'expiry_mismatch'])

function decline(
  state: BatchState,
  request_on_card: RequestOnCard,
  objections: readonly DeclineCode[],
): Decision {
  const { card } = request_on_card
  if (objections.some((code) => WRONG_ATTEMPTS.has(code))) {
    card.failed_at = withFailure(card, state.now)
    state.failed_cards.add(card)
  }
  const decline_code = objections[0] ?? 'do_not_honor'
  const transaction = recordDecline(state, request_on_card, objections)
  return declined(decline_code, { network: card.brand, transaction })
}

export function recordDecline(
  state: BatchState,
  request_on_card: RequestOnCard,
  objections: readonly DeclineCode[],
) {
  const row = record(state, request_on_card, {
    type: 'decline',
    status: 'declined',
    decline_code: objections[0] ?? 'do_not_honor',
    failed_rules: objections,
  })
  emitTransactionEvent(state, row, 'declined')
  return row
}
