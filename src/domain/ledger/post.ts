import { assert } from '#kernel/assert.ts'
import type { IdPrefix } from '#kernel/id.ts'
import { least, type Micros } from '#kernel/money.ts'
import type { Tx } from '#platform/postgres/db.ts'
import type { Write } from '#platform/postgres/write.ts'
import { type Cause, debtPayer, debtPayment, dependsOnDebt } from './debt.ts'
import {
  lockPurses,
  type MovementRow,
  type OwnedPurse,
  type PurseRow,
  postingWrites,
  type SpentAmounts,
} from './ledger_store.ts'
import { type Move, movements } from './movements.ts'
import { isCustomerPurse, type Purse, receivable, treasury } from './purse.ts'
import { PurseRows } from './purse_rows.ts'

export type { Move } from './movements.ts'

/** The result of a movement; null if the purse did not have enough. */
export type PostingResult = MovementRow | null

export type Stamp = { now: Date; newId(prefix: IdPrefix, at: Date): string }

/**
 * A posting in progress: it locks purses, decides moves over their running balances, and writes all
 * of them together. Nothing else writes balances.
 */
export type Posting = {
  balanceOf(account_id: string, purse: Purse): Micros
  /** Null if the purse does not have enough; nothing changes then. */
  move(move: Move): PostingResult
  /** Sets the usage counters of a card's purse. */
  countSpent(account_id: string, purse: Purse, spent: SpentAmounts & { spent_day: string }): void
  /** Notes when an authorization of a card's purse expires, unless an earlier one is noted. */
  noteExpiry(account_id: string, purse: Purse, expires_at: Date): void
  /** The writes, ready to send. */
  writes(): readonly Write[]
  write(): Promise<void>
}

/**
 * Locks purses in key order; every purse that a move touches must be listed. The receivable purse
 * is locked with every treasury, because incoming money pays a debt first. Purses already read
 * under the lock of their card are not locked again: if one has changed, the posting fails.
 */
export async function beginPosting(
  tx: Tx,
  owned: readonly OwnedPurse[],
  stamp: Stamp,
  read: readonly PurseRow[] = [],
): Promise<Posting> {
  const debts = owned.filter(({ kind }) => kind === 'treasury').map(receivableOf)
  const locked = await lockPurses(tx, [...owned, ...debts].filter(isCustomerPurse))
  const purses = new PurseRows([...locked, ...read])
  const rows: MovementRow[] = []
  const writes = () => postingWrites(rows, purses.changed())
  const balanceOf = (account_id: string, purse: Purse): Micros => {
    const row = purses.find(account_id, purse)
    return row === undefined ? 0n : inPurse(row, purse)
  }
  const payDebt = (cause: Cause, payer: Purse): void => {
    const owed = -balanceOf(cause.account_id, receivable)
    if (owed === 0n) return
    // A card pays a debt from the incoming amount only, not from its earlier balance.
    const most = payer.kind === 'card' ? cause.amount_micros : balanceOf(cause.account_id, payer)
    const amount = least(owed, most)
    if (amount === 0n) return
    const payment = debtPayment(cause, payer, amount)
    requireValid(payment)
    const paid = decide(payment, purses, stamp)
    assert(paid !== null, "a debt payment never exceeds the payer's balance")
    rows.push(paid)
  }
  // The first version kept money beside a debt; the next movement of such a treasury pays it.
  for (const { account_id, kind, balance_micros: amount_micros } of locked) {
    const reference = { type: 'account', id: account_id }
    if (kind === 'treasury') payDebt({ account_id, amount_micros, reference }, treasury)
  }
  return {
    balanceOf,
    move: (move) => {
      requireValid(move)
      const posted = decide(move, purses, stamp)
      if (posted === null) return null
      rows.push(posted)
      const payer = debtPayer(move)
      if (payer !== null) payDebt(move, payer)
      return posted
    },
    countSpent: (account_id, purse, spent) => {
      const row = purses.find(account_id, purse)
      assert(row !== undefined, 'a posting has locked what is spent from')
      countSpent(row, spent)
    },
    noteExpiry: (account_id, purse, expires_at) => {
      const row = purses.find(account_id, purse)
      assert(row !== undefined, 'a posting has locked what holds are taken from')
      if (row.holds_expire_at !== null && row.holds_expire_at <= expires_at) return
      row.holds_expire_at = expires_at
      row.is_changed = true
    },
    writes,
    write: async () => void (await Promise.all(writes().map(tx.write))),
  }
}

/** Posts moves in order; a refused one does not affect the others. */
export async function post(tx: Tx, moves: readonly Move[], stamp: Stamp): Promise<PostingResult[]> {
  const posting = await beginPosting(tx, moves.flatMap(pursesIn), stamp)
  const posted = moves.map(posting.move)
  await posting.write()
  return posted
}

export function requireValid({ movement, from, to, amount_micros }: Move): void {
  const rule = movements[movement]
  assert(amount_micros > 0n, 'a movement has a positive amount')
  assert(from.kind === rule.from, `${movement} leaves a ${rule.from}`)
  assert(to.kind === rule.to, `${movement} reaches a ${rule.to}`)
}

export function pursesIn(move: Move): OwnedPurse[] {
  const { account_id, from, to } = move
  const purses = dependsOnDebt(move) ? [from, to, receivable] : [from, to]
  const payer = debtPayer(move)
  if (payer !== null) purses.push(payer)
  return purses.map((purse) => ({ account_id, ...purse }))
}

const receivableOf = ({ account_id }: { account_id: string }): OwnedPurse => ({
  account_id,
  ...receivable,
})

function decide(move: Move, purses: PurseRows, stamp: Stamp): PostingResult {
  const from = purses.find(move.account_id, move.from)
  const to = purses.find(move.account_id, move.to)
  assert(from !== undefined || !isCustomerPurse(move.from), 'the debited purse is locked')
  assert(to !== undefined || !isCustomerPurse(move.to), 'the credited purse is locked')
  const { amount_micros } = move
  const hasEnough = (row: PurseRow) => inPurse(row, move.from) >= amount_micros
  if (from !== undefined && from.kind !== 'receivable' && !hasEnough(from)) return null
  const at = timestampAfter([from, to], stamp.now)
  if (from !== undefined) change(from, move.from, { by: -amount_micros, at })
  if (to !== undefined) change(to, move.to, { by: amount_micros, at })
  const row = rowOf(move, at, stamp)
  row.from_balance_micros = from === undefined ? null : inPurse(from, move.from)
  row.to_balance_micros = to === undefined ? null : inPurse(to, move.to)
  return row
}

export function rowOf(move: Move, at: Date, stamp: Stamp): MovementRow {
  return {
    account_id: move.account_id,
    id: stamp.newId('bal', at),
    movement: move.movement,
    from_kind: move.from.kind,
    from_owner_id: move.from.owner_id,
    from_balance_micros: null,
    to_kind: move.to.kind,
    to_owner_id: move.to.owner_id,
    to_balance_micros: null,
    amount_micros: move.amount_micros,
    reference_type: move.reference.type,
    reference_id: move.reference.id,
    description: move.description,
    created_at: at,
  }
}

/**
 * The treasury's history is ordered by id, so no movement may be older than the one before it, even
 * if the nodes' clocks differ.
 */
function timestampAfter(purses: readonly (PurseRow | undefined)[], now: Date): Date {
  const last = purses.find((purse) => purse?.kind === 'treasury')?.moved_at
  return last && last >= now ? new Date(last.getTime() + 1) : now
}

/** A node whose clock is behind uses the later day that another node has begun. */
function countSpent(row: PurseRow, spent: SpentAmounts & { spent_day: string }): void {
  if (row.spent_day === null || row.spent_day < spent.spent_day) row.spent_day = spent.spent_day
  row.day_spent_micros = spent.day_spent_micros
  row.month_spent_micros = spent.month_spent_micros
  row.is_changed = true
}

const inPurse = (row: PurseRow, { kind }: Purse): Micros =>
  kind === 'hold' ? row.held_micros : row.balance_micros

function change(row: PurseRow, { kind }: Purse, { by, at }: { by: Micros; at: Date }): void {
  if (kind === 'hold') row.held_micros += by
  else row.balance_micros += by
  row.moved_at = at
  row.is_changed = true
}
