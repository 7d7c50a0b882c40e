import { type SpendingWindow, usageOn } from '#domain/cards/limits.ts'
import type { LockedCard } from '#domain/cards/lock_cards.ts'
import type { PurseRow } from '#domain/ledger/ledger_store.ts'
import { cardPurse, type Purse, receivable, treasury } from '#domain/ledger/purse.ts'
import type { TransactionRow } from '#domain/transactions/transaction.ts'
import { assert } from '#kernel/assert.ts'
import type { IdPrefix } from '#kernel/id.ts'
import { type Micros, microsFromUsd } from '#kernel/money.ts'
import type { Random } from '#platform/runtime/random.ts'
import type { RiskSettings } from '#settings/risk_settings.ts'
import type { SpendLimits } from '#settings/spend_limit_settings.ts'
import type { BatchState } from './batch_state.ts'
import { type AnsweredRow, type CardSnapshot, programLimits, toCardState } from './batch_store.ts'
import { type CardState, type ChallengeState, withoutCountries } from './card_state.ts'
import { Purchases } from './purchases.ts'
import { type CardRequest, isAdvice } from './request.ts'

/** Builds the state of a batch from the loaded rows. Pure, so a simulation drives it too. */

/** From the contract: uncaptured holds are released after a week. */
const HOLD_LIFETIME_MS = 7 * 24 * 3_600_000

const CODE_LETTERS = 'ABCDEFGHJKLMNPQRSTUVWXYZ0123456789'
const CODE_LENGTH = 6

type StateDependencies = {
  settings: { risk: RiskSettings; spend_limits: SpendLimits }
  random: Random
  newId(prefix: IdPrefix, at: Date): string
}

export type SnapshotOf = ReadonlyMap<string, CardSnapshot>

/**
 * Returns the usage counters of a card. A chain of replaced cards shares one. Requests don't need
 * the successors, because a replaced card declines them.
 */
function chainSpending(
  day: string,
  locked: readonly LockedCard[],
  { snapshot_of, with_successors }: { snapshot_of: SnapshotOf; with_successors: boolean },
): (card: LockedCard) => CardState['spent'] {
  const by_id = new Map(locked.map((card) => [card.id, card]))
  const lastOf = (card: LockedCard): LockedCard => {
    if (card.replaced_by === null || !with_successors) return card
    const next = by_id.get(card.replaced_by)
    assert(next !== undefined, 'the successors of a replaced card are locked')
    return lastOf(next)
  }
  const spent_of = new Map<string, CardState['spent']>()
  return (card) => {
    const { id } = lastOf(card)
    const known = spent_of.get(id)
    if (known !== undefined) return known
    const spent = { card_id: id, ...usageOn(day, snapshot_of.get(id)) }
    spent_of.set(id, spent)
    return spent
  }
}

type LoadedCards = {
  window: SpendingWindow
  locked: readonly LockedCard[]
  snapshot_of: SnapshotOf
  with_successors: boolean
}

/** The cards of a batch by the hash of their number. */
export function newCardStates(
  { risk, spend_limits }: StateDependencies['settings'],
  { window, locked, ...loaded }: LoadedCards,
): Map<string, CardState> {
  const program = programLimits(spend_limits)
  const spentBy = chainSpending(window.day, locked, loaded)
  const cards = new Map<string, CardState>()
  for (const card of locked) {
    const own = toCardState(card, spentBy(card), program)
    cards.set(card.pan_hash, withoutCountries(own, risk.blocked_countries))
  }
  return cards
}

type LoadedState = Pick<
  BatchState,
  'now' | 'window' | 'cards' | 'posting' | 'is_paused' | 'refunds' | 'single_use_cards'
> & {
  seen: readonly AnsweredRow[]
  rows: readonly TransactionRow[]
  challenges: readonly ChallengeState[]
}

/** The state of a batch before its first decision. */
export function newBatchState(
  dependencies: StateDependencies,
  { seen, rows, challenges, ...known }: LoadedState,
): BatchState {
  const { now } = known
  const purchases = new Purchases()
  for (const row of rows) purchases.add(row)
  for (const { identity, transaction_id, is_request } of seen) {
    if (transaction_id !== null) purchases.addChange(identity, { transaction_id, is_request })
  }
  // The spread comes last: fields added after it would cost about 2 µs each in Node 20.
  return {
    expires_at: new Date(now.getTime() + HOLD_LIFETIME_MS),
    newId: (prefix, at = now) => dependencies.newId(prefix, at),
    newAuthorizationCode: () => newCode(dependencies),
    partial_approvals: dependencies.settings.risk.partial_approvals,
    refund_review_micros: reviewedFrom(dependencies.settings.risk),
    answered: new Set(seen.filter((row) => row.answer !== null).map((row) => row.identity)),
    early_reversals: new Set(seen.filter((row) => row.answer === null).map((row) => row.identity)),
    challenges: new Map(challenges.map((challenge) => [challenge.id, challenge])),
    purchases,
    made: [],
    made_later: new Set(),
    changed: new Map(),
    events: [],
    new_early_reversals: new Set(),
    failed_cards: new Set(),
    used_challenges: [],
    pending_clearings: [],
    used_cards: [],
    locked_cards: [],
    ...known,
  }
}

const reviewedFrom = ({ refund_review_usd }: RiskSettings): Micros | null =>
  refund_review_usd === null ? null : microsFromUsd(refund_review_usd)

function newCode({ random }: StateDependencies): string {
  const bytes = random.bytes(CODE_LENGTH)
  let code = ''
  for (const byte of bytes) code += CODE_LETTERS[byte % CODE_LETTERS.length]
  return code
}

/** The messages of a batch and those that they name. */
export function identitiesOf(batch: readonly CardRequest[]): string[] {
  const identities: string[] = []
  for (const { identity, settles, reference } of batch) {
    identities.push(identity)
    if (settles !== null) identities.push(settles)
    if (reference.original_identity !== null) identities.push(reference.original_identity)
  }
  return identities
}

export type CardSnapshots = { cards: readonly CardState[]; snapshot_of: SnapshotOf }

/**
 * A request touches only its card's purse: it was read under the lock of the card, which is
 * enough. Advices, debts and the purchase of a single-use card also touch the account's balance and
 * debt, and a first purchase creates a purse: these are locked.
 */
export function cardsToLock(
  batch: readonly CardRequest[],
  cards: ReadonlyMap<string, CardState>,
  snapshot_of: SnapshotOf,
): CardState[] {
  const locking = new Set<CardState>()
  /** The last cards of the chains of replaced cards, which count their usage. */
  const counting = new Set<string>()
  for (const { kind, pan_hash } of batch) {
    const card = cards.get(pan_hash)
    if (card === undefined) continue
    const snapshot = snapshot_of.get(card.id)
    const hasPurse = snapshot !== undefined && snapshot.balance_micros !== null
    const touchesAccount = isAdvice(kind) || canBeUsedUp(card)
    if (touchesAccount || !hasPurse || snapshot.owed_micros > 0n) locking.add(card)
    if (isAdvice(kind) && card.spent.card_id !== card.id) counting.add(card.spent.card_id)
  }
  for (const card of cards.values()) if (counting.has(card.id)) locking.add(card)
  return [...locking]
}

/** Its purchase cancels it, and the rest of its balance returns to the treasury. */
export const canBeUsedUp = ({ usage, status }: CardState): boolean =>
  usage === 'single_use' && status !== 'cancelled'

export function pursesToLock(cards: readonly CardState[]): (Purse & { account_id: string })[] {
  return cards.flatMap(({ account_id, id }) =>
    [cardPurse(id), receivable, treasury].map((purse) => ({ account_id, ...purse })),
  )
}

export function readPurses(
  { cards, snapshot_of }: CardSnapshots,
  locked: readonly CardState[],
): PurseRow[] {
  const except = new Set(locked)
  const rows: PurseRow[] = []
  for (const card of cards) {
    const snapshot = snapshot_of.get(card.id)
    if (snapshot === undefined || snapshot.balance_micros === null || except.has(card)) continue
    rows.push({
      account_id: card.account_id,
      kind: 'card',
      owner_id: card.id,
      balance_micros: snapshot.balance_micros,
      held_micros: snapshot.held_micros,
      read_micros: snapshot.balance_micros,
      moved_at: null,
      is_changed: false,
      holds_expire_at: snapshot.holds_expire_at,
      spent_day: snapshot.spent_day,
      day_spent_micros: snapshot.day_spent_micros,
      month_spent_micros: snapshot.month_spent_micros,
    })
  }
  return rows
}
