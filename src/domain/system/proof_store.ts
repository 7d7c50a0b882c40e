import type { Violation } from '#domain/context/proof.ts'
import type { Tx } from '#platform/postgres/db.ts'
import type { AccountProgress } from './prove_accounts.ts'

/** The accounts of a page, in the order of their IDs. */
export async function accountsAfter(tx: Tx, after: string, limit: number): Promise<string[]> {
  const rows = await tx.rows<{ id: string }>(
    'select id from accounts where id > $1 order by id limit $2',
    [after, limit],
  )
  return rows.map(({ id }) => id)
}

/**
 * The accounts of a page that were never proven or have changed since: one look-up per table and
 * account. Reading the changed rows themselves would need an index that every purchase pays for.
 */
export function changedAccounts(
  tx: Tx,
  account_ids: readonly string[],
): Promise<AccountProgress[]> {
  return tx.rows<AccountProgress>(
    `select a.id as account_id, coalesce(p.through, '') as through,
            coalesce(p.running, '{}') as running, p.proven_at
       from unnest($1::text[]) as a (id)
       left join lateral (select * from proven_accounts where account_id = a.id offset 0) p on true
      where p.account_id is null
         or exists (select from events r
                     where r.account_id = a.id and r.id > 'evt_' || p.through)
         or exists (select from movements r
                     where r.account_id = a.id and r.id > 'bal_' || p.through)
         or exists (select from account_sequences h
                     where h.account_id = a.id
                       and h.audit_count <> (p.running -> 'audit' ->> 'position')::bigint)`,
    [account_ids],
  )
}

export async function saveProgress(tx: Tx, accounts: readonly AccountProgress[]): Promise<void> {
  await tx.run(
    `insert into proven_accounts (account_id, through, running, proven_at)
     select * from unnest($1::text[], $2::text[], $3::jsonb[], $4::timestamptz[])
         on conflict (account_id) do update
        set through = excluded.through, running = excluded.running,
            proven_at = excluded.proven_at`,
    [
      accounts.map(({ account_id }) => account_id),
      accounts.map(({ through }) => through),
      accounts.map(({ running }) => JSON.stringify(running)),
      accounts.map(({ proven_at }) => proven_at),
    ],
  )
}

export type Cycle = {
  after_account: string
  started_at: Date
  accounts: bigint
  last_finished_at: Date | null
  last_run_at: Date | null
}

/** The current cycle over all accounts; a new one if there is none. */
export async function readCycle(tx: Tx, now: Date): Promise<Cycle> {
  await tx.run(
    `insert into proof_cycles (started_at, accounts) select $1, count(*) from accounts
         on conflict do nothing`,
    [now],
  )
  const [cycle] = await tx.rows<Cycle>('select * from proof_cycles')
  if (cycle === undefined) throw new Error('the cycle was just stored')
  return cycle
}

export async function advanceCycle(tx: Tx, after_account: string): Promise<void> {
  await tx.run('update proof_cycles set after_account = $1', [after_account])
}

export async function finishCycle(tx: Tx, now: Date): Promise<void> {
  await tx.run(
    `update proof_cycles
        set after_account = '', started_at = $1, last_finished_at = $1,
            accounts = (select count(*) from accounts)`,
    [now],
  )
}

export async function recordRun(tx: Tx, now: Date): Promise<void> {
  await tx.run('update proof_cycles set last_run_at = $1', [now])
}

/** When the last run ended; null before the first. */
export async function findLastRun(tx: Tx): Promise<Date | null> {
  const [cycle] = await tx.rows<{ last_run_at: Date | null }>(
    'select last_run_at from proof_cycles',
  )
  return cycle?.last_run_at ?? null
}

export type FindingRow = {
  proof: string
  account_id: string
  object_id: string
  sentence: string
  first_seen_at: Date
  last_seen_at: Date
  mailed_at: Date | null
}

/** The findings that a run looked for: those it didn't find again are deleted. */
export type ExaminedScope = {
  proof_names: readonly string[]
  /** Null for all accounts; a range or a list otherwise. */
  accounts: { ids: readonly string[] } | { after: string; through: string } | null
}

/** A proof that fails for thousands of objects has one cause: some of them are enough. */
const FINDINGS_MAX = 1_000

export async function replaceFindings(
  tx: Tx,
  { proof_names, accounts }: ExaminedScope,
  { found, now }: { found: readonly Violation[]; now: Date },
): Promise<void> {
  const kept = found.slice(0, FINDINGS_MAX)
  const keys = [
    kept.map(({ account_id }) => account_id ?? ''),
    kept.map(({ proof }) => proof),
    kept.map(({ id }) => id),
  ]
  const [condition, values] = accountCondition(accounts)
  await tx.run(
    `delete from proof_findings
      where proof = any($1) and ${condition}
        and (account_id, proof, object_id) not in (
          select * from unnest($2::text[], $3::text[], $4::text[]))`,
    [proof_names, ...keys, ...values],
  )
  if (kept.length === 0) return
  await tx.run(
    `insert into proof_findings (account_id, proof, object_id, sentence, first_seen_at,
                                 last_seen_at)
     select distinct on (account_id, proof, object_id)
            account_id, proof, object_id, sentence, $5::timestamptz, $5::timestamptz
       from unnest($1::text[], $2::text[], $3::text[], $4::text[])
         as f (account_id, proof, object_id, sentence)
         on conflict (account_id, proof, object_id) do update
        set sentence = excluded.sentence, last_seen_at = excluded.last_seen_at`,
    [...keys, kept.map(({ sentence }) => sentence), now],
  )
}

function accountCondition(accounts: ExaminedScope['accounts']): [string, unknown[]] {
  if (accounts === null) return ['true', []]
  if ('ids' in accounts) return ['account_id = any($5)', [accounts.ids]]
  return ['account_id > $5 and account_id <= $6', [accounts.after, accounts.through]]
}

export async function accountsWithFindings(
  tx: Tx,
  proof_names: readonly string[],
): Promise<string[]> {
  const rows = await tx.rows<{ account_id: string }>(
    `select distinct account_id from proof_findings
      where account_id <> '' and proof = any($1) order by account_id`,
    [proof_names],
  )
  return rows.map(({ account_id }) => account_id)
}

const COLUMNS = 'proof, account_id, object_id, sentence, first_seen_at, last_seen_at, mailed_at'

export function listFindings(tx: Tx, limit: number): Promise<FindingRow[]> {
  return tx.rows<FindingRow>(
    `select ${COLUMNS} from proof_findings order by first_seen_at, proof, object_id limit $1`,
    [limit],
  )
}

export async function countFindings(tx: Tx): Promise<Map<string, number>> {
  const rows = await tx.rows<{ proof: string; count: bigint }>(
    'select proof, count(*) from proof_findings group by proof order by proof',
  )
  return new Map(rows.map(({ proof, count }) => [proof, Number(count)]))
}

/** Marks all findings as mailed. */
export async function markMailed(tx: Tx, now: Date): Promise<void> {
  await tx.run('update proof_findings set mailed_at = $1', [now])
}
