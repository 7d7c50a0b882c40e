import {
  type Proof,
  readFloors,
  type Slice,
  sliceParams,
  statementOf,
  type Violation,
} from '#domain/context/proof.ts'
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

export type ProofRun = {
  now: Date
  /** Called before each step; throws if another node has taken over. */
  check(): void
}

export type AccountsProven = { progress: AccountProgress[]; violations: Violation[] }

/**
 * The rows of a table that a slice has at most, and those of all slices of a statement. A slice
 * also reads the rows of the minute after it, so many short ones would read those again and again.
 */
const SLICE_ROWS = 2_000
const SLICES_ROWS = 100_000
/** The accounts whose rows are added up together. Each may return 20,000 rows at a time. */
const TOGETHER = 10
/** Usually 5 s; 40 s and more were seen beside other work that kept both cores busy. */
const STATEMENT_MS = 180_000
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
  { now, check }: ProofRun,
): Promise<AccountsProven> {
  const violations: Violation[] = []
  let open = accounts.map((progress) => ({ progress, after: progress.through }))
  while (open.length > 0) {
    check()
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
  check()
  const advanced = await inSnapshot(db, async (reader) => {
    const whole = accounts.map((account) => sliceOf(account, { after: '', through: LAST }))
    violations.push(...(await run(reader, 'account', whole, now)))
    return advanceAll(reader, accounts, now)
  })
  violations.push(...advanced.flatMap((account) => account.violations))
  const progress = advanced.map((account) => account.progress)
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
   order by r.id offset $3 limit 1)`

const NEXT_ENDS = `
  select a.account_id, coalesce(least(${endOf('events', 'evt')}, ${endOf('movements', 'bal')},
                                      ${endOf('transactions', 'txn')}), '${LAST}') as through
    from unnest($1::text[], $2::text[]) as a (account_id, after)`

async function nextSlices(reader: SnapshotReader, open: readonly OpenAccount[]): Promise<Slice[]> {
  const rows = Math.min(Math.floor(SLICES_ROWS / open.length), SLICE_ROWS)
  const ends = await reader.rows<{ account_id: string; through: string }>(NEXT_ENDS, [
    open.map(({ progress }) => progress.account_id),
    open.map(({ after }) => after),
    rows - 1,
  ])
  const through_of = new Map(ends.map(({ account_id, through }) => [account_id, through]))
  return open.map(({ progress, after }) =>
    sliceOf(progress, { after, through: through_of.get(progress.account_id) ?? LAST }),
  )
}

/** Half of the time of a busy account's proofs was reading its transactions for each of them. */
const STATEMENTS = { slice: statementsOf('slice'), account: statementsOf('account') }

function statementsOf(scope: Proof['scope']): string[] {
  const of_scope = proofs.filter((proof) => proof.scope === scope)
  const groups = new Map<string, Proof[]>()
  for (const proof of of_scope) {
    const key = proof.common ?? proof.name
    groups.set(key, [...(groups.get(key) ?? []), proof])
  }
  return [...groups.values()].map(statementOf)
}

async function run(
  reader: SnapshotReader,
  scope: keyof typeof STATEMENTS,
  slices: readonly Slice[],
  now: Date,
): Promise<Violation[]> {
  const violations: Violation[] = []
  const params = sliceParams(slices, { now, floors: await readFloors(reader) })
  for (const statement of STATEMENTS[scope]) {
    violations.push(...(await reader.rows<Violation>(statement, params)))
  }
  return violations
}

type Advanced = { progress: AccountProgress; violations: Violation[] }

async function advanceAll(
  reader: SnapshotReader,
  accounts: readonly AccountProgress[],
  now: Date,
): Promise<Advanced[]> {
  const advanced: Advanced[] = []
  for (let at = 0; at < accounts.length; at += TOGETHER) {
    const some = accounts.slice(at, at + TOGETHER)
    advanced.push(...(await Promise.all(some.map((account) => advance(reader, account, now)))))
  }
  return advanced
}

async function advance(
  reader: SnapshotReader,
  { account_id, through, running }: AccountProgress,
  now: Date,
): Promise<Advanced> {
  const boundary = bodyAt(now.getTime() - SETTLED_MS)
  const settled = boundary > through ? boundary : through
  const results = await Promise.all(
    running_proofs.map(async (proof) => {
      const from = running[proof.key] ?? (await proof.start(reader, account_id))
      return { proof, ...(await proof.advance(reader, account_id, { from, settled })) }
    }),
  )
  const states = Object.fromEntries(results.map(({ proof, state }) => [proof.key, state]))
  return {
    progress: { account_id, through: settled, running: states, proven_at: now },
    violations: results.flatMap(({ proof, sentences }) =>
      sentences.map((found) => ({ proof: proof.name, account_id, ...found })),
    ),
  }
}
