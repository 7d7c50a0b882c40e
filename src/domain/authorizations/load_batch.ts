import { findCardRows } from '#domain/cards/card_store.ts'
import { spendingWindow } from '#domain/cards/limits.ts'
import { type BatchCards, type LockedCard, lockCards } from '#domain/cards/lock_cards.ts'
import type { Dependencies } from '#domain/context/context.ts'
import { type AuditChains, findAuditChains } from '#domain/events/account_sequence_store.ts'
import {
  type AccountSequences,
  lockSequences,
  sequenceAt,
} from '#domain/events/record_event_set.ts'
import { beginPosting } from '#domain/ledger/post.ts'
import { isKilled } from '#domain/risk/kill_switch.ts'
import type { Database, Tx } from '#platform/postgres/db.ts'
import type { BatchState } from './batch_state.ts'
import {
  type AnsweredRow,
  type CardSnapshot,
  findAnswered,
  findCardSnapshots,
  findChallenges,
  findPurchases,
} from './batch_store.ts'
import type { CardState } from './card_state.ts'
import {
  type CardSnapshots,
  canBeUsedUp,
  cardsToLock,
  identitiesOf,
  newBatchState,
  newCardStates,
  pursesToLock,
  readPurses,
  type SnapshotOf,
} from './new_batch_state.ts'
import { correctOriginals } from './originals.ts'
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

export type LoadedBatch = {
  /** The messages whose cards are locked now, and the numbers of those that are busy. */
  ready: readonly CardRequest[]
  busy: ReadonlySet<string>
  state: BatchState
  seen: readonly AnsweredRow[]
  sequences: AccountSequences
  audit_chains: AuditChains
}

/** The way a batch takes its locks. */
export type BatchLocks = { locks_all: boolean; skips_busy: boolean }

/** Locks the batch's cards and loads everything its decisions need. */
export async function loadBatch(
  dependencies: EngineDependencies,
  tx: Tx,
  { batch, locks_all, skips_busy }: BatchLocks & { batch: readonly CardRequest[] },
): Promise<LoadedBatch> {
  const now = dependencies.clock.now()
  const window = spendingWindow(now)
  const pan_hashes = [...new Set(batch.map(({ pan_hash }) => pan_hash))]
  const identities = identitiesOf(batch)
  const with_successors = batch.some(({ kind }) => isAdvice(kind))
  const wanted = { pan_hashes, with_successors, skips_busy }
  // Sent in one round trip. Each statement sees what was committed before it ran.
  if (locks_all) waitLongerForLocks(tx)
  const [{ locked, busy, snapshot_of }, exact_seen, exact_rows, challenges, is_paused] =
    await Promise.all([
      lockAndRead(tx, wanted),
      findAnswered(tx, identities),
      findPurchases(tx, batch, now),
      findChallenges(tx, batch),
      isKilled(tx, 'authorizations'),
    ])
  const loaded_cards = { window, locked, snapshot_of, ...wanted }
  const cards = newCardStates(dependencies.settings, loaded_cards)
  const references = { batch, seen: exact_seen, rows: exact_rows }
  const { seen, rows, batch: corrected } = await correctOriginals(tx, references, now)
  const ready = busy.size === 0 ? corrected : corrected.filter((one) => !busy.has(one.pan_hash))
  const { refunds, captures } = await findRefundState(tx, ready, rows)
  const snapshot = { cards: [...cards.values()], snapshot_of }
  const locking = locks_all ? snapshot.cards : cardsToLock(ready, cards, snapshot_of)
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
  const { single_use_cards, audit_chains } = await findSingleUse(tx, snapshot.cards)
  const known = { now, window, cards, posting, is_paused, refunds, single_use_cards }
  const loaded = { seen, rows: [...rows, ...captures], challenges, ...known }
  const state = newBatchState(dependencies, loaded)
  return { ready, busy, state, seen, sequences, audit_chains }
}

const NO_SINGLE_USE = { single_use_cards: new Map(), audit_chains: new Map() }

/**
 * The purchase of a single-use card leaves an event with the whole card and an audit entry. Few
 * batches have such a card, so only those read more.
 */
async function findSingleUse(
  tx: Tx,
  cards: readonly CardState[],
): Promise<Pick<BatchState, 'single_use_cards'> & Pick<LoadedBatch, 'audit_chains'>> {
  const usable = cards.filter(canBeUsedUp)
  if (usable.length === 0) return NO_SINGLE_USE
  const [rows, audit_chains] = await Promise.all([
    findCardRows(tx, usable),
    findAuditChains(
      tx,
      usable.map(({ account_id }) => account_id),
    ),
  ])
  return { single_use_cards: new Map(rows.map((row) => [row.id, row])), audit_chains }
}

/**
 * Locks the cards and reads what changes under their locks. A card that was replaced while its lock
 * was awaited has a successor that isn't locked yet: then both run again. The cards locked so far
 * stay locked, so that ends.
 */
async function lockAndRead(
  tx: Tx,
  wanted: BatchCards,
): Promise<{
  locked: readonly LockedCard[]
  busy: ReadonlySet<string>
  snapshot_of: SnapshotOf
}> {
  const [locked, snapshots] = await Promise.all([
    lockCards(tx, wanted),
    findCardSnapshots(tx, wanted),
  ])
  const snapshot_of = new Map(snapshots.map((snapshot) => [snapshot.id, snapshot]))
  if (wanted.skips_busy) return { ...withoutBusy(locked, snapshots, wanted), snapshot_of }
  if (wanted.with_successors && lacksSuccessor(locked)) return lockAndRead(tx, wanted)
  return { locked, busy: NONE_BUSY, snapshot_of }
}

const NONE_BUSY: ReadonlySet<string> = new Set()

/** A card is busy if another transaction has locked it, or one of its successors. */
function withoutBusy(
  all: readonly LockedCard[],
  snapshots: readonly CardSnapshot[],
  { with_successors }: BatchCards,
): { locked: readonly LockedCard[]; busy: ReadonlySet<string> } {
  const by_id = new Map(all.map((card) => [card.id, card]))
  const isLocked = (id: string): boolean => {
    const card = by_id.get(id)
    if (card === undefined) return false
    return card.replaced_by === null || !with_successors || isLocked(card.replaced_by)
  }
  const busy = new Set(snapshots.flatMap(({ id, pan_hash }) => (isLocked(id) ? [] : [pan_hash])))
  if (busy.size === 0) return { locked: all, busy }
  return { locked: all.filter(({ pan_hash }) => !busy.has(pan_hash)), busy }
}

function lacksSuccessor(locked: readonly LockedCard[]): boolean {
  const ids = new Set(locked.map(({ id }) => id))
  return locked.some(({ replaced_by }) => replaced_by !== null && !ids.has(replaced_by))
}

/** The first attempt gives up on a lock early, because most messages of the batch don't need it. */
function waitLongerForLocks(tx: Tx): void {
  tx.run(`set local lock_timeout = '900ms'`).catch(() => undefined)
}

function readSequences({ cards, snapshot_of }: CardSnapshots): AccountSequences {
  return new Map(
    cards.map(({ account_id, id }) => [
      account_id,
      sequenceAt(snapshot_of.get(id) ?? { event_sequence: 0n, last_event_id: '' }),
    ]),
  )
}
