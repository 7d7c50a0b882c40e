import type { DeclineCode } from '#contract/decline.ts'
import type { TransactionRow } from '#domain/transactions/transaction.ts'
import { type BatchState, change } from './batch_state.ts'
import { attemptsAreUsedUp, objectionsTo, withFailure } from './checks.ts'
import type { CardFacts } from './facts.ts'
import { availableOn, hold, owedBy, take } from './money.ts'
import { decision, declined, emitTransactionEvent, record } from './record.ts'
import type { CardRequest, Decision } from './request.ts'
import { countFor } from './spending.ts'
import { challengeFor } from './three_ds.ts'

type Asked = { card: CardFacts; request: CardRequest }

/** Every question of the network: all checks, and then what an approval of its kind does. */
export function authorize(state: BatchState, request: CardRequest): Decision {
  const card = state.cards.get(request.pan_hash)
  if (card === undefined) return declined('invalid_card')
  const asked = { card, request }
  const incremented = incrementedBy(state, asked)
  const objections = objectionsTo({
    request,
    card,
    incremented: incremented === null ? 0n : incremented.captured_micros + incremented.open_micros,
    now: state.now,
    is_paused: state.is_paused,
    is_reversed: state.early_reversals.has(request.identity),
    challenge: challengeFor(state, card, request),
    available: availableOn(state, card),
    owed: owedBy(state, card),
  })
  const is_code_right = codeResult(state, asked, objections)
  if (objections.length === 0) return { ...approve(state, asked), is_code_right }
  const part = partOf(state, asked, objections)
  if (part === null) return { ...decline(state, asked, objections), is_code_right }
  const { minor, micros } = part.request.charge
  return { ...approve(state, part), is_code_right, part: { minor, micros } }
}

/** Asked before a decline counts the attempt: the fifth wrong code is still told. */
function codeResult(
  { now }: BatchState,
  { card, request }: Asked,
  objections: readonly DeclineCode[],
): boolean | null {
  if (request.isCodeRight === null || attemptsAreUsedUp(card, now)) return null
  return !objections.includes('cvv_mismatch')
}

const CENT_MICROS = 10_000n
const PART_MIN_MICROS = 1_000_000n

/** What the card has, where that is all that stands against it and the terminal takes a part. */
function partOf(state: BatchState, asked: Asked, objections: readonly DeclineCode[]): Asked | null {
  const { card, request } = asked
  const isWanted = state.partial_approvals && request.is_partial_ok && request.kind === 'authorize'
  const isAllThatIsWrong = objections.length === 1 && objections[0] === 'insufficient_funds'
  if (!isWanted || !isAllThatIsWrong || owedBy(state, card) > 0n) return null
  const micros = (availableOn(state, card) / CENT_MICROS) * CENT_MICROS
  const { charge } = request
  if (charge.micros === null || micros < PART_MIN_MICROS) return null
  const minor = (charge.minor * micros) / charge.micros
  return { card, request: { ...request, charge: { ...charge, minor, micros } } }
}

function approve(state: BatchState, asked: Asked): Decision {
  const { card, request } = asked
  const authorization_code = state.newAuthorizationCode()
  const network = card.brand
  switch (request.kind) {
    case 'balance':
      return decision('approved', {
        authorization_code,
        network,
        available_micros: availableOn(state, card),
      })
    case 'verify':
    case 'credit':
      return decision('approved', { authorization_code, network })
    case 'debit':
      return approved(card, debit(state, asked, authorization_code))
    case 'increment': {
      const authorization = increment(state, asked)
      if (authorization === null) break
      return approved(card, authorization)
    }
  }
  return approved(card, purchase(state, asked, authorization_code))
}

function approved({ brand }: CardFacts, transaction: TransactionRow): Decision {
  const { authorization_code } = transaction
  return decision('approved', { authorization_code, network: brand, transaction })
}

function purchase(state: BatchState, { card, request }: Asked, authorization_code: string) {
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

/** An authorization is its own purchase: it carries its own id as the one that groups it. */
export function recordAuthorization(
  state: BatchState,
  asked: Asked,
  given: Partial<TransactionRow>,
) {
  const row = record(state, asked, { type: 'authorization', status: 'pending', ...given })
  row.authorization_id = row.id
  countFor(state, asked.card, { authorization: row, micros: row.amount_micros, already: 0n })
  useChallenge(state, row)
  return row
}

function useChallenge(state: BatchState, row: TransactionRow): void {
  const challenge = state.challenges.get(row.three_ds_challenge_id ?? '')
  if (challenge?.status !== 'approved') return
  challenge.used_by = row.id
  state.used_challenges.push(challenge)
}

/** One message approves and takes: the same two events, at the same moment. */
function debit(state: BatchState, asked: Asked, authorization_code: string): TransactionRow {
  const { card, request } = asked
  const amount = request.charge.micros ?? 0n
  const row = recordAuthorization(state, asked, {
    status: 'captured',
    authorization_code,
    captured_micros: amount,
    is_single_message: true,
    settled_at: state.now,
  })
  emitTransactionEvent(state, row, 'authorized')
  take(state, card, row, amount)
  const capture = record(state, asked, {
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

/**
 * The purchase that an increment adds to. Null where that is unknown or closed: then the increment
 * is a purchase of its own.
 */
function incrementedBy(state: BatchState, { card, request }: Asked): TransactionRow | null {
  if (request.kind !== 'increment') return null
  const authorization = state.purchases.ofReversal(card, request)
  return authorization?.type === 'authorization' && authorization.open_micros > 0n
    ? authorization
    : null
}

function increment(state: BatchState, { card, request }: Asked): TransactionRow | null {
  const authorization = incrementedBy(state, { card, request })
  if (authorization === null) return null
  const amount = request.charge.micros ?? 0n
  const held = hold(state, card, authorization, amount)
  countFor(state, card, { authorization, micros: amount, already: authorization.open_micros })
  change(state, authorization, {
    amount_micros: authorization.amount_micros + amount,
    amount_minor: authorization.amount_minor + request.charge.minor,
    open_micros: authorization.open_micros + amount,
    held_micros: authorization.held_micros + held,
    expires_at: state.expires_at,
  })
  emitTransactionEvent(state, authorization, 'authorized')
  return authorization
}

const WRONG_ATTEMPTS: ReadonlySet<DeclineCode> = new Set(['cvv_mismatch', 'expiry_mismatch'])

function decline(state: BatchState, asked: Asked, objections: readonly DeclineCode[]): Decision {
  const { card } = asked
  if (objections.some((code) => WRONG_ATTEMPTS.has(code))) {
    card.failed_at = withFailure(card, state.now)
    state.failed_cards.add(card)
  }
  const decline_code = objections[0] ?? 'do_not_honor'
  const transaction = recordDecline(state, asked, objections)
  return declined(decline_code, { network: card.brand, transaction })
}

export function recordDecline(state: BatchState, asked: Asked, objections: readonly DeclineCode[]) {
  const row = record(state, asked, {
    type: 'decline',
    status: 'declined',
    decline_code: objections[0] ?? 'do_not_honor',
    failed_rules: objections,
  })
  emitTransactionEvent(state, row, 'declined')
  return row
}
