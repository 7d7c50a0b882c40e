import type { Move, Stamp } from '#domain/ledger/post.ts'
import { cardPurse, chain, type PurseKind, treasury } from '#domain/ledger/purse.ts'
import { idMaker } from '#kernel/id.ts'
import type { Micros } from '#kernel/money.ts'
import type { Database } from '#platform/postgres/db.ts'
import { systemRandom } from '#platform/runtime/random.ts'

const makeId = idMaker(systemRandom.bytes)

export const stamp = (now = new Date()): Stamp => ({
  now,
  newId: (prefix, at) => makeId(prefix, at.getTime()),
})

type Terms = Pick<Move, 'movement' | 'from' | 'to'> & { amount: number }

/** A movement of whole dollars. */
export function moveOf(account_id: string, { movement, from, to, amount }: Terms): Move {
  const amount_micros = BigInt(amount) * 1_000_000n
  const reference = { type: 'test', id: 'one' }
  return { movement, account_id, from, to, amount_micros, reference, description: 'A test.' }
}

export const settle = (account_id: string, amount: number): Move =>
  moveOf(account_id, { movement: 'topup_settled', from: chain, to: treasury, amount })
export const load = (account_id: string, card: string, amount: number): Move =>
  moveOf(account_id, { movement: 'card_loaded', from: treasury, to: cardPurse(card), amount })

type BalanceRow = { kind: PurseKind; owner_id: string; balance_micros: Micros }

export function pursesOf(db: Database, account_id: string): Promise<BalanceRow[]> {
  return db.rows<BalanceRow>(
    'select kind, owner_id, balance_micros from purse_balances where account_id = $1',
    [account_id],
  )
}

/** The balances of an account in whole dollars, by kind and owner of the purse. */
export async function dollarsByPurse(
  db: Database,
  account_id: string,
): Promise<Record<string, bigint>> {
  const rows = await pursesOf(db, account_id)
  return Object.fromEntries(
    rows.map((row) => [row.kind + row.owner_id, row.balance_micros / 1_000_000n]),
  )
}
