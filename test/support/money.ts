import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { ledger_proofs } from '#domain/ledger/ledger_proofs.ts'
import { move } from '#domain/ledger/move.ts'
import { operator, treasury } from '#domain/ledger/purse.ts'
import { running_balances } from '#domain/ledger/running_balances.ts'
import { type IdPrefix, idMaker } from '#kernel/id.ts'
import { microsFromUsd } from '#kernel/money.ts'
import { proveBooks } from '#main/audit.ts'
import type { Database } from '#platform/postgres/db.ts'

const makeId = idMaker(randomBytes)

/** Credits the treasury from the operator's purse, so the books stay balanced. */
export async function fundTreasury(db: Database, account_id: string, usd: number): Promise<void> {
  const now = new Date()
  const stamp = { now, newId: (prefix: IdPrefix, at: Date) => makeId(prefix, at.getTime()) }
  await db.transaction((tx) =>
    move(
      tx,
      {
        movement: 'adjusted_up',
        account_id,
        from: operator,
        to: treasury,
        amount_micros: microsFromUsd(usd),
        reference: { type: 'account', id: account_id },
        description: 'Money for a test.',
      },
      stamp,
    ),
  )
}

/** The sum of an account's purses in dollars, which no card operation may change. */
export async function wealthOf(db: Database, account_id: string): Promise<string> {
  const [row] = await db.rows<{ usd: string }>(
    `select trim_scale(coalesce(sum(balance_micros + held_micros), 0) / 1000000)::text as usd
       from purses where account_id = $1`,
    [account_id],
  )
  return row?.usd ?? '0'
}

/** Runs every proof, at the time of the service. */
export async function assertBooksSound(db: Database, now?: Date): Promise<void> {
  const { violations } = await proveBooks(db, now)
  assert.deepEqual(violations, [])
}

const LEDGER_PROOFS = [running_balances, ...ledger_proofs].map(({ name }) => name)

/** Runs the proofs of the ledger alone, for tests that move money without a cause. */
export async function assertLedgerSound(db: Database): Promise<void> {
  const { violations } = await proveBooks(db)
  const of_ledger = violations.filter(({ proof }) => LEDGER_PROOFS.includes(proof))
  assert.deepEqual(of_ledger, [])
}
