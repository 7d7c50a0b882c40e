import type { BatchState } from '#domain/authorizations/batch_state.ts'
import type { AnsweredRow, CardSnapshot } from '#domain/authorizations/batch_store.ts'
import {
  cardsToLock,
  identitiesOf,
  newBatchState,
  newCardStates,
  pursesToLock,
  readPurses,
} from '#domain/authorizations/new_batch_state.ts'
import type { RefundState } from '#domain/authorizations/refund_state.ts'
import { type CardRequest, isAdvice } from '#domain/authorizations/request.ts'
import { Responder } from '#domain/authorizations/responder.ts'
import { spendingWindow } from '#domain/cards/limits.ts'
import type { LockedCard } from '#domain/cards/lock_cards.ts'
import { beginPosting } from '#domain/ledger/post.ts'
import { cardPurse, receivable } from '#domain/ledger/purse.ts'
import { type AccountRows, type CoreCard, findPurse, storePurses } from './account_rows.ts'
import { type EngineCommand, requestOf } from './core_requests.ts'
import { loadPurchases, storeRows } from './core_rows.ts'
import { type CoreState, memoryTx, rowsOf, stampAt, storePostings } from './core_state.ts'

/** Called with each response, while the batch is in progress. */
export type OnResponse = (outcome: string, at: number) => void

/**
 * Decides messages in one batch, as the engine does: load, decide in order, store.
 *
 * In literals of this folder, a spread that comes first adds no fields after it: Node 20 then gives
 * every object a hidden class of its own, and each added field costs about 2 µs.
 */
export async function runCoreBatch(
  core: CoreState,
  { now, commands }: { now: Date; commands: readonly EngineCommand[] },
  onResponse: OnResponse,
): Promise<void> {
  const requests = commands.map((command) => requestOf(core, command, now))
  const batch = requests.filter((request) => request !== null)
  const { state, seen } = await loadState(core, batch, now)
  const responder = new Responder(state, seen)
  for (const [at, request] of requests.entries()) {
    if (request === null) onResponse(missingOf(commands[at]), at)
    else onResponse(Buffer.from(responder.respond(request).answer).toString(), at)
  }
  storeBatch(core, state, responder)
  for (const command of commands) {
    if (command.op === 'book_clearing') markBooked(core, command.message)
  }
}

/** As markSettled does: the message then names the transaction that was booked for it. */
function markBooked(core: CoreState, message: string): void {
  const waiting = core.waiting.get(message)
  if (waiting === undefined) return
  core.waiting.delete(message)
  const booked = core.seen.get(`priced|${waiting.clearing.id}`)
  const seen = core.seen.get(message)
  if (seen !== undefined) seen.transaction_id = booked?.transaction_id ?? null
}

/** An expiry of nothing does nothing; an operator gets a 404. */
const missingOf = (command: EngineCommand | undefined): string =>
  command?.op === 'book_clearing'
    ? '{"result":"refused","code":"not_found"}'
    : '{"result":"original_unknown"}'

async function loadState(core: CoreState, batch: readonly CardRequest[], now: Date) {
  const window = spendingWindow(now)
  const with_successors = batch.some(({ kind }) => isAdvice(kind))
  const found = findCards(core, batch, with_successors)
  const locked = found.map(({ rows, card }) => lockedCard(rows, card))
  const snapshot_of = new Map(found.map((one) => [one.card.id, snapshotOf(one)]))
  const cards = newCardStates(core.settings, { window, locked, snapshot_of, with_successors })
  const snapshot = { cards: [...cards.values()], snapshot_of }
  const locking = cardsToLock(batch, cards, snapshot_of)
  const read = readPurses(snapshot, locking)
  const stamp = stampAt(core, now)
  const posting = await beginPosting(memoryTx(core), pursesToLock(locking), stamp, read)
  const seen = seenBy(core, batch)
  const accounts = [...new Set(found.map(({ rows }) => rows))]
  const single_use = found.filter(({ card }) => card.usage === 'single_use')
  const state = newBatchState(core, {
    now,
    window,
    cards,
    posting,
    seen,
    single_use_cards: new Map(single_use.map(({ card }) => [card.id, card])),
    is_paused: core.killed.has('authorizations'),
    refunds: refundState(accounts, batch),
    rows: loadPurchases(core, accounts, batch),
    challenges: accounts.flatMap(({ challenges }) => [...challenges.values()]),
  })
  read_purses.set(state, read)
  return { state, seen }
}

/** Purses that were read without a lock are copies; the commit writes them. */
const read_purses = new WeakMap<BatchState, Parameters<typeof storePurses>[1]>()

type FoundCard = { rows: AccountRows; card: CoreCard }

function findCards(core: CoreState, batch: readonly CardRequest[], with_successors: boolean) {
  const found = new Map<string, FoundCard>()
  const add = (rows: AccountRows, card: CoreCard | undefined): void => {
    if (card === undefined || found.has(card.id)) return
    found.set(card.id, { rows, card })
    if (!with_successors || card.replaced_by === null) return
    add(
      rows,
      [...rows.cards.values()].find(({ id }) => id === card.replaced_by),
    )
  }
  const wanted = new Set(batch.map(({ pan_hash }) => pan_hash))
  for (const rows of core.accounts.values()) {
    for (const card of rows.cards.values()) if (wanted.has(card.pan_hash)) add(rows, card)
  }
  return [...found.values()]
}

const lockedCard = ({ is_suspended }: AccountRows, card: CoreCard): LockedCard => ({
  account_status: is_suspended ? 'suspended' : 'active',
  spend_limits: {},
  ...card,
})

function snapshotOf({ rows, card }: FoundCard): CardSnapshot {
  const purse = findPurse(rows, cardPurse(card.id))
  const owed_micros = -(findPurse(rows, receivable)?.balance_micros ?? 0n)
  const money = purse ?? NO_PURSE
  const head = { event_sequence: 0n, last_event_id: '' }
  return { id: card.id, pan_hash: card.pan_hash, owed_micros, ...head, ...money }
}

const NO_PURSE = {
  balance_micros: null,
  held_micros: null,
  holds_expire_at: null,
  spent_day: null,
  day_spent_micros: null,
  month_spent_micros: null,
}

function seenBy(core: CoreState, batch: readonly CardRequest[]): AnsweredRow[] {
  const rows: AnsweredRow[] = []
  for (const identity of identitiesOf(batch)) {
    const seen = core.seen.get(identity)
    if (seen !== undefined) rows.push({ identity, ...seen })
    if (core.early_reversals.has(identity)) {
      const nothing = { fingerprint: null, answer: null, transaction_id: null }
      rows.push({ identity, ...nothing, is_request: false })
    }
  }
  return rows
}

/** Loaded only for the kinds of messages that need them. */
function refundState(accounts: readonly AccountRows[], batch: readonly CardRequest[]): RefundState {
  const has = (...kinds: CardRequest['kind'][]) => batch.some(({ kind }) => kinds.includes(kind))
  const disputes = has('refund', 'reverse')
    ? accounts.flatMap((rows) => [...rows.disputes.values()])
    : []
  return {
    parts: has('capture', 'reverse') ? accounts.flatMap((rows) => rows.refund_parts) : [],
    new_parts: [],
    disputes: disputes.filter(({ outcome }) => outcome !== 'lost').map((one) => ({ ...one })),
    evidence: [],
    changed_disputes: new Set(),
  }
}

function storeBatch(core: CoreState, state: BatchState, { messages }: Responder): void {
  for (const rows of core.accounts.values()) storePurses(rows, read_purses.get(state) ?? [])
  storePostings(core)
  storeRows(core, state)
  for (const { request, answer, transaction } of messages) {
    if (request.message === null) continue
    const { fingerprint } = request
    const kept = Buffer.from(answer.kept_bytes)
    const { mti } = request.message
    const transaction_id = mti.startsWith('01') ? (transaction?.id ?? null) : null
    const is_request = mti.startsWith('010')
    core.seen.set(request.identity, { fingerprint, answer: kept, transaction_id, is_request })
  }
  for (const identity of state.new_early_reversals) core.early_reversals.add(identity)
  for (const { account_id, id, failed_at } of state.failed_cards) {
    const cards = rowsOf(core, account_id).cards.values()
    for (const card of cards) if (card.id === id) card.failed_at = failed_at
  }
  storeCards(core, state)
  for (const clearing of state.pending_clearings) {
    const account = clearing.card.account_id
    core.waiting.set(clearing.request.identity, { account, clearing })
  }
}

/** Single-use cards after their purchase, and cards that got their merchant lock. */
function storeCards(core: CoreState, { used_cards, locked_cards }: BatchState): void {
  for (const { account_id, id, status, cancel_reason } of used_cards) {
    changeCard(core, { account_id, id }, { status, cancel_reason })
  }
  for (const { account_id, id, merchant_lock_name, merchant_lock_id } of locked_cards) {
    changeCard(core, { account_id, id }, { merchant_lock_name, merchant_lock_id })
  }
}

function changeCard(
  core: CoreState,
  { account_id, id }: Pick<CoreCard, 'account_id' | 'id'>,
  change: Partial<CoreCard>,
): void {
  const cards = [...rowsOf(core, account_id).cards.values()]
  const card = cards.find((one) => one.id === id)
  if (card === undefined) throw new Error(`the card ${id} is not stored`)
  Object.assign(card, change)
}
