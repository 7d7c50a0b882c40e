import type { DeclineCode } from '#contract/decline.ts'
import type { TransactionRow } from '#domain/transactions/transaction.ts'
import { attemptsAreUsedUp, objectionsTo, withFailure } from './checks.ts'
import type { CardFacts } from './facts.ts'
import { availableOn, hold, owedBy, take } from './money.ts'
import { decision, declined, record, tell } from './record.ts'
import type { CardRequest, Decision } from './request.ts'
import { countFor } from './spending.ts'
import { challengeFor } from './three_ds.ts'
import { change, type Work } from './work.ts'

type Asked = { card: CardFacts; request: CardRequest }

/** Every question of the network: all checks, and then what an approval of its kind does. */
export function authorize(work: Work, request: CardRequest): Decision {
  const card = work.cards.get(request.pan_hash)
  if (card === undefined) return declined('invalid_card')
  const asked = { card, request }
  const incremented = incrementedBy(work, asked)
  const objections = objectionsTo({
    request,
    card,
    incremented: incremented === null ? 0n : incremented.captured_micros + incremented.open_micros,
    now: work.now,
    is_paused: work.is_paused,
    is_reversed: work.early_reversals.has(request.identity),
    challenge: challengeFor(work, card, request),
    available: availableOn(work, card),
    owed: owedBy(work, card),
  })
  const is_code_right = codeResult(work, asked, objections)
  if (objections.length === 0) return { ...approve(work, asked), is_code_right }
  const part = partOf(work, asked, objections)
  if (part === null) return { ...decline(work, asked, objections), is_code_right }
  const { minor, micros } = part.request.charge
  return { ...approve(work, part), is_code_right, part: { minor, micros } }
}

/** Asked before a decline counts the attempt: the fifth wrong code is still told. */
function codeResult(
  { now }: Work,
  { card, request }: Asked,
  objections: readonly DeclineCode[],
): boolean | null {
  if (request.isCodeRight === null || attemptsAreUsedUp(card, now)) return null
  return !objections.includes('cvv_mismatch')
}

const CENT_MICROS = 10_000n
const PART_MIN_MICROS = 1_000_000n

/** What the card has, where that is all that stands against it and the terminal takes a part. */
function partOf(work: Work, asked: Asked, objections: readonly DeclineCode[]): Asked | null {
  const { card, request } = asked
  const isWanted = work.partial_approvals && request.is_partial_ok && request.kind === 'authorize'
  const isAllThatIsWrong = objections.length === 1 && objections[0] === 'insufficient_funds'
  if (!isWanted || !isAllThatIsWrong || owedBy(work, card) > 0n) return null
  const micros = (availableOn(work, card) / CENT_MICROS) * CENT_MICROS
  const { charge } = request
  if (charge.micros === null || micros < PART_MIN_MICROS) return null
  const minor = (charge.minor * micros) / charge.micros
  return { card, request: { ...request, charge: { ...charge, minor, micros } } }
}

function approve(work: Work, asked: Asked): Decision {
  const { card, request } = asked
  const authorization_code = work.newAuthorizationCode()
  const network = card.brand
  switch (request.kind) {
    case 'balance':
      return decision('approved', {
        authorization_code,
        network,
        available_micros: availableOn(work, card),
      })
    case 'verify':
    case 'credit':
      return decision('approved', { authorization_code, network })
    case 'debit':
      return approved(card, debit(work, asked, authorization_code))
    case 'increment': {
      const head = increment(work, asked)
      if (head === null) break
      return approved(card, head)
    }
  }
  return approved(card, purchase(work, asked, authorization_code))
}

function approved({ brand }: CardFacts, transaction: TransactionRow): Decision {
  const { authorization_code } = transaction
  return decision('approved', { authorization_code, network: brand, transaction })
}

function purchase(work: Work, { card, request }: Asked, authorization_code: string) {
  const amount = request.charge.micros ?? 0n
  const row = recordAuthorization(
    work,
    { card, request },
    {
      authorization_code,
      open_micros: amount,
      expires_at: work.expires_at,
    },
  )
  row.held_micros = hold(work, card, row, amount)
  tell(work, row, 'authorized')
  return row
}

/** An authorization is its own purchase: it carries its own id as the one that groups it. */
export function recordAuthorization(work: Work, asked: Asked, given: Partial<TransactionRow>) {
  const row = record(work, asked, { type: 'authorization', status: 'pending', ...given })
  row.authorization_id = row.id
  countFor(work, asked.card, { head: row, micros: row.amount_micros, already: 0n })
  useChallenge(work, row)
  return row
}

function useChallenge(work: Work, row: TransactionRow): void {
  const challenge = work.challenges.get(row.three_ds_challenge_id ?? '')
  if (challenge?.status !== 'approved') return
  challenge.used_by = row.id
  work.used_challenges.push(challenge)
}

/** One message approves and takes: the same two events, at the same moment. */
function debit(work: Work, asked: Asked, authorization_code: string): TransactionRow {
  const { card, request } = asked
  const amount = request.charge.micros ?? 0n
  const row = recordAuthorization(work, asked, {
    status: 'captured',
    authorization_code,
    captured_micros: amount,
    is_single_message: true,
    settled_at: work.now,
  })
  tell(work, row, 'authorized')
  take(work, card, row, amount)
  const capture = record(work, asked, {
    type: 'capture',
    status: 'settled',
    authorization_id: row.id,
    authorization_code,
    captured_micros: amount,
    settled_at: work.now,
    three_ds_result: row.three_ds_result,
    three_ds_challenge_id: row.three_ds_challenge_id,
  })
  tell(work, capture, 'captured')
  return row
}

/**
 * The purchase that an increment adds to. Null where that is unknown or closed: then the increment
 * is a purchase of its own.
 */
function incrementedBy(work: Work, { card, request }: Asked): TransactionRow | null {
  if (request.kind !== 'increment') return null
  const head = work.purchases.ofReversal(card, request)
  return head?.type === 'authorization' && head.open_micros > 0n ? head : null
}

function increment(work: Work, { card, request }: Asked): TransactionRow | null {
  const head = incrementedBy(work, { card, request })
  if (head === null) return null
  const amount = request.charge.micros ?? 0n
  const held = hold(work, card, head, amount)
  countFor(work, card, { head, micros: amount, already: head.open_micros })
  change(work, head, {
    amount_micros: head.amount_micros + amount,
    amount_minor: head.amount_minor + request.charge.minor,
    open_micros: head.open_micros + amount,
    held_micros: head.held_micros + held,
    expires_at: work.expires_at,
  })
  tell(work, head, 'authorized')
  return head
}

const WRONG_ATTEMPTS: ReadonlySet<DeclineCode> = new Set(['cvv_mismatch', 'expiry_mismatch'])

function decline(work: Work, asked: Asked, objections: readonly DeclineCode[]): Decision {
  const { card } = asked
  if (objections.some((code) => WRONG_ATTEMPTS.has(code))) {
    card.failed_at = withFailure(card, work.now)
    work.failed_cards.add(card)
  }
  const decline_code = objections[0] ?? 'do_not_honor'
  const transaction = recordDecline(work, asked, objections)
  return declined(decline_code, { network: card.brand, transaction })
}

export function recordDecline(work: Work, asked: Asked, objections: readonly DeclineCode[]) {
  const row = record(work, asked, {
    type: 'decline',
    status: 'declined',
    decline_code: objections[0] ?? 'do_not_honor',
    failed_rules: objections,
  })
  tell(work, row, 'declined')
  return row
}
