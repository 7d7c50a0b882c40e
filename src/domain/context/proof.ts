import type { SnapshotReader } from '#platform/postgres/snapshot.ts'

/**
 * A proof is a sentence that is true of sound books, and a statement that finds the objects for
 * which it is not. The statement returns `account_id` (null if there is none), `id` and `sentence`,
 * which says in plain words what is wrong.
 *
 * Scopes, and the parameters of the statement:
 *   slice      part of an account's history, see SLICES: runs over what is new, and over everything
 *              once a day
 *   account    an account as it is now, see SLICES: runs after its slices
 *   range      all accounts with an ID after $1 and up to $2: runs once a day
 *   programme  all accounts; the statement finds its few rows by an index; $1 is the time
 *   whole      sums over all rows: runs only in `florin audit books`
 */
export type Proof = {
  name: string
  scope: 'slice' | 'account' | 'range' | 'programme' | 'whole'
  /** A WITH clause that the statement reads from; proofs with the same one share its rows. */
  common?: string
  sql: string
}

/** One statement for proofs with the same WITH clause; each row names its proof. */
export function statementOf(proofs: readonly Proof[]): string {
  const parts = proofs.map(
    ({ name, sql }) => `select '${name.replaceAll("'", "''")}' as proof, f.* from (${sql}) f`,
  )
  return [proofs[0]?.common ?? '', parts.join('\nunion all\n')].join('\n')
}

/** An object for which a proof does not hold. */
export type Violation = {
  proof: string
  account_id: string | null
  id: string
  sentence: string
}

/**
 * A proof that adds up rows: it continues from the state in which it stopped. A row counts as
 * settled when no transaction can still add one before it.
 */
export type RunningProof<State = unknown> = {
  name: string
  /** Named in the stored states. */
  key: string
  /** The state before the first row that is still in the database. */
  start(reader: SnapshotReader, account_id: string): Promise<State>
  advance(
    reader: SnapshotReader,
    account_id: string,
    input: { from: State; settled: string },
  ): Promise<{ state: State; sentences: { id: string; sentence: string }[] }>
}

/** A part of an account's history, as IDs without prefix: after `after`, up to `through`. */
export type Slice = {
  account_id: string
  after: string
  through: string
  /** Ten seconds before and a minute after it: contains every row written together. */
  near_after: string
  near_through: string
  /** Objects that have not changed since then were proven before. */
  since: Date | null
}

/**
 * SQL: before these, events are deleted and money is archived: IDs without prefix, and timestamps.
 * Objects that were made together differ by less than a minute, so these are a minute later.
 */
const FLOORS = `(
  select id_time(nullif(max(since) filter (where history = 'events'), '-infinity')
                   + interval '1 minute') as events_floor,
         max(since) filter (where history = 'events') + interval '1 minute' as events_since,
         id_time(nullif(max(since) filter (where history = 'money'), '-infinity')
                   + interval '1 minute') as money_floor,
         max(since) filter (where history = 'money') + interval '1 minute' as money_since
    from history_floors)`

/** Every statement of a slice or an account begins with this. */
export const SLICES = `with slices as materialized (
  select s.*, n.now, coalesce(f.events_floor, '') collate "C" as events_floor, f.events_since,
         coalesce(f.money_floor, '') collate "C" as money_floor, f.money_since
    from unnest($1::text[], $2::text[], $3::text[], $4::text[], $5::text[], $6::timestamptz[])
           as s (account_id, after, through, near_after, near_through, since)
   cross join (select $7::timestamptz as now) n
   cross join ${FLOORS} f
)`

export function sliceParams(slices: readonly Slice[], now: Date): unknown[] {
  return [
    slices.map(({ account_id }) => account_id),
    slices.map(({ after }) => after),
    slices.map(({ through }) => through),
    slices.map(({ near_after }) => near_after),
    slices.map(({ near_through }) => near_through),
    slices.map(({ since }) => since?.toISOString() ?? '-infinity'),
    now,
  ]
}

/**
 * The rows of a table in a slice `s`. The subquery with an offset makes PostgreSQL read the range
 * of the key for each slice, whatever it guesses about the table's size.
 */
export function rowsIn(table: string, prefix: string, alias: string): string {
  return `join lateral (
    select * from ${table} r
     where r.account_id = s.account_id
       and r.id > '${prefix}_' || s.after and r.id <= '${prefix}_' || s.through offset 0
  ) ${alias} on true`
}

/** The rows of a table in a slice, with those written together with one of them. */
export function rowsNear(table: string, prefix: string, alias: string): string {
  return `join lateral (
    select * from ${table} r
     where r.account_id = s.account_id
       and r.id > '${prefix}_' || s.near_after and r.id <= '${prefix}_' || s.near_through offset 0
  ) ${alias} on true`
}

/** The rows of a table that belong to the accounts and have changed. */
export function changedRows(table: string, alias: string): string {
  return `join lateral (
    select * from ${table} r
     where r.account_id = s.account_id and r.updated_at >= s.since offset 0
  ) ${alias} on true`
}

/** SQL: the dollars of an amount in micros, as text. */
export const usd = (micros: string): string => `'$' || trim_scale((${micros}) / 1000000.0)`

/**
 * SQL: how many events of a type an object of a slice has at a time. An event is written in the
 * transaction of its change, so it is found near that time; if the clock was advanced in between,
 * it is later. One that was deleted counts as found.
 */
export function eventCount(
  owner: { account_id: string; id: string; at: string },
  type: string,
): string {
  const { account_id, id, at } = owner
  const count = (end: string) => `(select count(*) from events e
     where e.account_id = ${account_id} and e.resource_id = ${id} and e.type = ${type}
       and e.id > 'evt_' || id_time(${at} - interval '10 seconds') ${end})`
  const near = count(`and e.id < 'evt_' || id_time(${at} + interval '5 minutes')`)
  return `(case when ${at} < s.events_since then 1
                else coalesce(nullif(${near}, 0), ${count('')}) end)`
}
