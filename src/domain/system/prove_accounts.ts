import { type Proof, type Slice, sliceParams, type Violation } from '#domain/context/proof.ts'
import { idFloor, idTimeMs } from '#kernel/id.ts'
import type { Database } from '#platform/postgres/db.ts'
import { type SnapshotReader, withSnapshot } from '#platform/postgres/snapshot.ts'
import { proofs, running_proofs } from './proofs.ts'

/** The progress of an account's proofs; null before the first. */
export type AccountProgress = {
  account_id: string
  through: string
  running: Record<string, unknown>
  proven_at: Date | null
}

export const fromTheStart = (account_id: string): AccountProgress => ({
  account_id,
  through: '',
  running: {},
  proven_at: null,
})

export type AccountsProven = { progress: AccountProgress[]; violations: Violation[] }

/** The rows of a table that a slice has at most. */
const SLICE_ROWS = 2_000
const STATEMENT_MS = 60_000
const SECOND_MS = 1_000
/** No transaction lives this long, so nothing can still be added before. */
const SETTLED_MS = 120 * SECOND_MS
/** Objects changed this long before the last run are examined again. */
const OVERLAP_MS = 600 * SECOND_MS

/**
 * Proves what accounts have added since their progress: their history slice by slice, each in a
 * snapshot of its own, then the accounts as they are now and the proofs that add rows up.
 */
export async function proveAccounts(
  db: Database,
  accounts: readonly AccountProgress[],
  now: Date,
): Promise<AccountsProven> {
  const violations: Violation[] = []
  let open = accounts.map((progress) => ({ progress, after: progress.through }))
  while (open.length > 0) {
    const slices = await inSnapshot(db, async (reader) => {
      const next = await nextSlices(reader, open)
      violations.push(...(await run(reader, 'slice', next, now)))
      return next
    })
    const ends = new Map(slices.map(({ account_id, through }) => [account_id, through]))
    open = open.flatMap(({ progress }) => {
      const after = ends.get(progress.account_id) ?? LAST
      return after === LAST ? [] : [{ progress, after }]
    })
  }
  const progress = await inSnapshot(db, async (reader) => {
    const whole = accounts.map((account) => sliceOf(account, { after: '', through: LAST }))
    violations.push(...(await run(reader, 'account', whole, now)))
    return advanceAll(reader, accounts, { now, violations })
  })
  return { progress, violations: distinct(violations) }
}

/** An object that several slices touch is found by each of them. */
function distinct(violations: readonly Violation[]): Violation[] {
  const by_object = new Map(violations.map((found) => [`${found.proof}|${found.id}`, found]))
  return [...by_object.values()]
}

/** Sorts after every ID. */
const LAST = 'z'
const BODY_LENGTH = 26

const inSnapshot = <Value>(db: Database, read: (reader: SnapshotReader) => Promise<Value>) =>
  withSnapshot(db, { statement_ms: STATEMENT_MS, by_index: true }, read)

/** The smallest ID body of a time. */
const bodyAt = (time_ms: number): string => idFloor('evt', time_ms).slice('evt_'.length)

function shifted(body: string, by_ms: number, otherwise: string): string {
  return body.length === BODY_LENGTH ? bodyAt(idTimeMs(`evt_${body}`) + by_ms) : otherwise
}

function sliceOf(
  { account_id, proven_at }: AccountProgress,
  { after, through }: { after: string; through: string },
): Slice {
  return {
    account_id,
    after,
    through,
    near_after: shifted(after, -10 * SECOND_MS, ''),
    near_through: shifted(through, 60 * SECOND_MS, LAST),
    since: proven_at === null ? null : new Date(proven_at.getTime() - OVERLAP_MS),
  }
}

type OpenAccount = { progress: AccountProgress; after: string }

/** SQL: the ID at which a slice is full; null if the rest of the account fits into it. */
const endOf = (table: string, prefix: string) => `(
  select substr(r.id, ${prefix.length + 2}) from ${table} r
   where r.account_id = a.account_id and r.id > '${prefix}_' || a.after
   order by r.id offset ${SLICE_ROWS - 1} limit 1)`

const NEXT_ENDS = `
  select a.account_id, coalesce(least(${endOf('events', 'evt')}, ${endOf('movements', 'bal')},
                                      ${endOf('transactions', 'txn')}), '${LAST}') as through
    from unnest($1::text[], $2::text[]) as a (account_id, after)`

async function nextSlices(reader: SnapshotReader, open: readonly OpenAccount[]): Promise<Slice[]> {
  const ends = await reader.rows<{ account_id: string; through: string }>(NEXT_ENDS, [
    open.map(({ progress }) => progress.account_id),
    open.map(({ after }) => after),
  ])
  const through_of = new Map(ends.map(({ account_id, through }) => [account_id, through]))
  return open.map(({ progress, after }) =>
    sliceOf(progress, { after, through: through_of.get(progress.account_id) ?? LAST }),
  )
}

async function run(
  reader: SnapshotReader,
  scope: Proof['scope'],
  slices: readonly Slice[],
  now: Date,
): Promise<Violation[]> {
  const violations: Violation[] = []
  for (const { name, sql } of proofs.filter((proof) => proof.scope === scope)) {
    const found = await reader.rows<Omit<Violation, 'proof'>>(sql, sliceParams(slices, now))
    violations.push(...found.map((row) => ({ proof: name, ...row })))
  }
  return violations
}

async function advanceAll(
  reader: SnapshotReader,
  accounts: readonly AccountProgress[],
  { now, violations }: { now: Date; violations: Violation[] },
): Promise<AccountProgress[]> {
  const boundary = bodyAt(now.getTime() - SETTLED_MS)
  const advanced: AccountProgress[] = []
  for (const { account_id, through, running } of accounts) {
    const settled = boundary > through ? boundary : through
    const states: Record<string, unknown> = {}
    for (const { name, key, start, advance } of running_proofs) {
      const from = running[key] ?? (await start(reader, account_id))
      const { state, sentences } = await advance(reader, account_id, { from, settled })
      states[key] = state
      violations.push(...sentences.map((found) => ({ proof: name, account_id, ...found })))
    }
    advanced.push({ account_id, through: settled, running: states, proven_at: now })
  }
  return advanced
}
