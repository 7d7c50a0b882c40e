import { spendingWindow, usageOn } from '#domain/cards/limits.ts'
import { type LockedCard, lockCards } from '#domain/cards/lock_cards.ts'
import type { Dependencies } from '#domain/context/context.ts'
import {
  type AccountSequences,
  lockSequences,
  sequenceAt,
} from '#domain/events/record_event_set.ts'
import type { PurseRow } from '#domain/ledger/ledger_store.ts'
import { beginPosting } from '#domain/ledger/post.ts'
import { cardPurse, type Purse, receivable, treasury } from '#domain/ledger/purse.ts'
import { isKilled } from '#domain/risk/kill_switch.ts'
import type { TransactionRow } from '#domain/transactions/transaction.ts'
import { type Micros, microsFromUsd } from '#kernel/money.ts'
import { ConcurrentUpdate } from '#platform/postgres/concurrent_update.ts'
import type { Database, Tx } from '#platform/postgres/db.ts'
import type { RiskSettings } from '#settings/risk_settings.ts'
import type { BatchState } from './batch_state.ts'
import {
  type AnsweredRow,
  type CardSnapshot,
  findAnswered,
  findCardSnapshots,
  findChallenges,
  findPurchases,
  programmeLimits,
  toCardState,
} from './batch_store.ts'
import { type CardState, type ChallengeState, withoutCountries } from './card_state.ts'
import { Purchases } from './purchases.ts'
import { findRefundState } from './refund_state.ts'
import { type CardRequest, isAdvice } from './request.ts'

/** The dependencies of a batch. */
export type EngineDependencies = {
  settings: Dependencies['settings']
  clock: Dependencies['clock']
  random: Dependencies['random']
  newId: Dependencies['newId']
  log: Dependencies['log']
  metrics: Dependencies['metrics']
  fail: Dependencies['fail']
  /** The engine has its own pool, so slow queries elsewhere cannot delay it. */
  db: Database
}

/** From the contract: uncaptured holds are released after a week. */
const HOLD_LIFETIME_MS = 7 * 24 * 3_600_000

const CODE_LETTERS = 'ABCDEFGHJKLMNPQRSTUVWXYZ0123456789'
const CODE_LENGTH = 6

export type LoadedBatch = {
  state: BatchState
  seen: readonly AnsweredRow[]
  sequences: AccountSequences
}

/** Locks the batch's cards and loads everything its decisions need. */
export async function loadBatch(
  dependencies: EngineDependencies,
  tx: Tx,
  { batch, locks_all }: { batch: readonly CardRequest[]; locks_all: boolean },
): Promise<LoadedBatch> {
  const now = dependencies.clock.now()
  const window = spendingWindow(now)
  const pan_hashes = [...new Set(batch.map(({ pan_hash }) => pan_hash))]
  const identities = batch.flatMap(({ identity, settles }) =>
    settles === null ? [identity] : [identity, settles],
  )
  const wanted = { pan_hashes, with_successors: batch.some(({ kind }) => isAdvice(kind)) }
  // Sent in one round trip. Each statement sees what was committed before it ran.
  if (locks_all) waitLongerForLocks(tx)
  const [locked, snapshots, seen, rows, challenges, is_paused] = await Promise.all([
    lockCards(tx, wanted),
    findCardSnapshots(tx, wanted),
    findAnswered(tx, identities),
    findPurchases(tx, batch, now),
    findChallenges(tx, batch),
    isKilled(tx, 'authorizations'),
  ])
  const snapshot_of = new Map(snapshots.map((snapshot) => [snapshot.id, snapshot]))
  const cards = new Map<string, CardState>()
  const programme = programmeLimits(dependencies.settings.spend_limits)
  const spentBy = chainSpending(window.day, locked, { snapshot_of, ...wanted })
  for (const card of locked) {
    const failed_at = snapshot_of.get(card.id)?.failed_at ?? []
    const own = toCardState(card, { spent: spentBy(card), failed_at }, programme)
    cards.set(card.pan_hash, withoutCountries(own, dependencies.settings.risk.blocked_countries))
  }
  const { refunds, captures } = await findRefundState(tx, batch, rows)
  const snapshot = { cards: [...cards.values()], snapshot_of }
  const locking = locks_all ? snapshot.cards : cardsToLock(batch, cards, snapshot_of)
  const posting = await beginPosting(
    tx,
    pursesToLock(locking),
    { now, newId: dependencies.newId },
    readPurses(snapshot, locking),
  )
  // After the purses: missing ones are created and locked by further statements, and locking the
  // sequences before those would deadlock with owners' calls.
  const account_ids = snapshot.cards.map(({ account_id }) => account_id)
  const sequences = locks_all ? await lockSequences(tx, account_ids) : readSequences(snapshot)
  const known = { now, window, cards, posting, is_paused, refunds }
  const loaded = { ...known, seen, rows: [...rows, ...captures], challenges }
  return { state: newBatchState(dependencies, loaded), seen, sequences }
}

/** The first attempt gives up on a lock early, because most messages of the batch don't need it. */
function waitLongerForLocks(tx: Tx): void {
  tx.run(`set local lock_timeout = '900ms'`).catch(() => undefined)
}

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
    if (next === undefined) throw new ConcurrentUpdate('a card was replaced before it was locked')
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

type LoadedState = Pick<
  BatchState,
  'now' | 'window' | 'cards' | 'posting' | 'is_paused' | 'refunds'
> & {
  seen: readonly AnsweredRow[]
  rows: readonly TransactionRow[]
  challenges: readonly ChallengeState[]
}

/** The state of a batch before its first decision. */
function newBatchState(
  dependencies: EngineDependencies,
  { seen, rows, challenges, ...known }: LoadedState,
): BatchState {
  const { now } = known
  const purchases = new Purchases()
  for (const row of rows) purchases.add(row)
  return {
    ...known,
    expires_at: new Date(now.getTime() + HOLD_LIFETIME_MS),
    newId: (prefix) => dependencies.newId(prefix, now),
    newAuthorizationCode: () => newCode(dependencies),
    partial_approvals: dependencies.settings.risk.partial_approvals,
    refund_review_micros: reviewedFrom(dependencies.settings.risk),
    early_reversals: new Set(seen.filter((row) => row.answer === null).map((row) => row.identity)),
    challenges: new Map(challenges.map((challenge) => [challenge.id, challenge])),
    purchases,
    made: [],
    changed: new Map(),
    events: [],
    new_early_reversals: new Set(),
    failed_cards: new Set(),
    used_challenges: [],
    pending_clearings: [],
  }
}

const reviewedFrom = ({ refund_review_usd }: RiskSettings): Micros | null =>
  refund_review_usd === null ? null : microsFromUsd(refund_review_usd)

function newCode({ random }: EngineDependencies): string {
  const bytes = random.bytes(CODE_LENGTH)
  let code = ''
  for (const byte of bytes) code += CODE_LETTERS[byte % CODE_LETTERS.length]
  return code
}

type SnapshotOf = ReadonlyMap<string, CardSnapshot>
type CardSnapshots = { cards: readonly CardState[]; snapshot_of: SnapshotOf }

/**
 * A question touches only its card's purse: it was read under the lock of the card, which is
 * enough. Facts and debts also touch what the account has and owes, and a first purchase makes a
 * purse: these are locked.
 */
function cardsToLock(
  batch: readonly CardRequest[],
  cards: ReadonlyMap<string, CardState>,
  snapshot_of: SnapshotOf,
): CardState[] {
  const locking = new Set<CardState>()
  /** Of replaced cards: the last ones of their chains, which count what these do. */
  const counting = new Set<string>()
  for (const { kind, pan_hash } of batch) {
    const card = cards.get(pan_hash)
    if (card === undefined) continue
    const snapshot = snapshot_of.get(card.id)
    const hasPurse = snapshot !== undefined && snapshot.balance_micros !== null
    if (isAdvice(kind) || !hasPurse || snapshot.owed_micros > 0n) locking.add(card)
    if (isAdvice(kind) && card.spent.card_id !== card.id) counting.add(card.spent.card_id)
  }
  for (const card of cards.values()) if (counting.has(card.id)) locking.add(card)
  return [...locking]
}

function pursesToLock(cards: readonly CardState[]): (Purse & { account_id: string })[] {
  return cards.flatMap(({ account_id, id }) =>
    [cardPurse(id), receivable, treasury].map((purse) => ({ account_id, ...purse })),
  )
}

function readPurses(
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
      spent_day: snapshot.spent_day,
      day_spent_micros: snapshot.day_spent_micros,
      month_spent_micros: snapshot.month_spent_micros,
    })
  }
  return rows
}

function readSequences({ cards, snapshot_of }: CardSnapshots): AccountSequences {
  return new Map(
    cards.map(({ account_id, id }) => [
      account_id,
      sequenceAt(snapshot_of.get(id)?.event_sequence ?? 0n),
    ]),
  )
}
