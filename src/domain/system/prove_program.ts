import type { Proof, Violation } from '#domain/context/proof.ts'
import { decimalFromMicros } from '#kernel/money.ts'
import type { Database } from '#platform/postgres/db.ts'
import { type SnapshotReader, withSnapshot } from '#platform/postgres/snapshot.ts'
import { proofs } from './proofs.ts'

const STATEMENT_MS = 60_000
/** Sums over millions of movements take minutes. */
const WHOLE_STATEMENT_MS = 30 * 60_000

const ofScope = (wanted: Proof['scope']) => proofs.filter(({ scope }) => scope === wanted)

async function run(
  reader: SnapshotReader,
  of_scope: readonly Proof[],
  params: readonly unknown[],
): Promise<Violation[]> {
  const violations: Violation[] = []
  for (const { name, sql } of of_scope) {
    const used = params.filter((_, at) => sql.includes(`$${at + 1}`))
    const found = await reader.rows<Omit<Violation, 'proof'>>(sql, used)
    violations.push(...found.map((row) => ({ proof: name, ...row })))
  }
  return violations
}

/** Finds what has waited for too long, over all accounts. */
export const proveProgram = (db: Database, now: Date): Promise<Violation[]> =>
  withSnapshot(db, { statement_ms: STATEMENT_MS, by_index: true }, (reader) =>
    run(reader, ofScope('program'), [now]),
  )

type AccountRange = { after: string; through: string }

/** Finds rows that belong to no account, in a range of account IDs. */
export const proveRange = (db: Database, { after, through }: AccountRange): Promise<Violation[]> =>
  withSnapshot(db, { statement_ms: STATEMENT_MS, by_index: true }, (reader) =>
    run(reader, ofScope('range'), [after, through]),
  )

export type Figures = Record<string, string>

/** Adds up whole tables, and returns the sums of all purses. */
export const proveWhole = (db: Database): Promise<{ figures: Figures; violations: Violation[] }> =>
  withSnapshot(db, { statement_ms: WHOLE_STATEMENT_MS }, async (reader) => {
    const sums = await reader.rows<{ kind: string; micros: string; movements: string }>(
      `select kind, sum(amount_micros)::text as micros from entries group by kind order by kind`,
    )
    const [count] = await reader.rows<{ count: string }>('select count(*)::text from movements')
    const figures = {
      movements: count?.count ?? '0',
      ...Object.fromEntries(
        sums.map(({ kind, micros }) => [`${kind}_usd`, decimalFromMicros(BigInt(micros))]),
      ),
    }
    return { figures, violations: await run(reader, ofScope('whole'), []) }
  })
