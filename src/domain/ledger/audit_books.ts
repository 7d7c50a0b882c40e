import { decimalFromMicros } from '#kernel/money.ts'
import type { Database } from '#platform/postgres/db.ts'

/** A proof over the whole ledger: its statement finds what violates it, and finds nothing. */
export type Proof = { name: string; sql: string }

export type Violation = { proof: string; found: Record<string, unknown> }
export type BooksReport = { figures: Record<string, string>; violations: Violation[] }

/** The proofs of this room; other rooms bring their own. */
export const ledger_proofs: readonly Proof[] = [
  {
    name: 'all entries sum to zero',
    sql: `select sum(amount_micros)::text as sum from entries having sum(amount_micros) <> 0`,
  },
  {
    name: 'every balance equals its entries',
    sql: `select account_id, kind, owner_id, p.balance_micros::text as balance,
                 coalesce(e.sum, 0)::text as entries
            from purse_balances p
            full join (select account_id, kind, owner_id, sum(amount_micros) as sum
                         from entries
                        where kind in ('treasury', 'payout', 'card', 'hold', 'receivable')
                        group by 1, 2, 3) e using (account_id, kind, owner_id)
           where coalesce(p.balance_micros, 0) <> coalesce(e.sum, 0)`,
  },
  {
    name: 'every treasury entry follows from the one before it',
    sql: `select account_id, movement_id
            from (select account_id, movement_id, amount_micros, balance_micros,
                         coalesce(lag(balance_micros) over (partition by account_id
                                                            order by movement_id), 0) as before
                    from entries where kind = 'treasury') t
           where balance_micros <> before + amount_micros`,
  },
  {
    name: "nothing of a customer's is below zero without a recorded reason",
    sql: `select account_id, kind, owner_id, balance_micros::text as balance
            from purse_balances p
           where balance_micros < 0
             and not (kind = 'receivable' and exists (
               select from movements m
                where m.account_id = p.account_id and m.from_kind = 'receivable'))`,
  },
]

const FIGURES = `
  select kind, sum(amount_micros)::text as micros from entries group by kind order by kind`

/**
 * Runs every proof in one snapshot, so that traffic meanwhile cannot look like a violation. Over
 * millions of movements a proof takes minutes, so it runs on a connection of its own, without the
 * limit of 12 s that other statements have.
 */
export async function auditBooks(db: Database, proofs: readonly Proof[]): Promise<BooksReport> {
  return db.connection(async (client) => {
    const rows = async <Row extends object>(sql: string): Promise<Row[]> =>
      (await client.query(sql)).rows as Row[]
    await client.query('begin isolation level repeatable read read only')
    await client.query("set local statement_timeout = '30min'")
    const sums = await rows<{ kind: string; micros: string }>(FIGURES)
    const [count] = await rows<{ count: string }>('select count(*)::text from movements')
    const violations: Violation[] = []
    for (const { name, sql } of proofs) {
      const found = await rows<Record<string, unknown>>(sql)
      violations.push(...found.map((row) => ({ proof: name, found: row })))
    }
    await client.query('commit')
    return {
      figures: {
        movements: count?.count ?? '0',
        ...Object.fromEntries(
          sums.map(({ kind, micros }) => [`${kind}_usd`, decimalFromMicros(BigInt(micros))]),
        ),
      },
      violations,
    }
  })
}
