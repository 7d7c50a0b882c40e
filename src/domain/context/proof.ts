import { assert } from '#kernel/assert.ts'
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
 *   program    all accounts; the statement finds its few rows by an index; $1 is the time
 *   whole      sums over all rows: runs only in `florin audit books`
 */
export type Proof = {
  name: string
  scope: 'slice' | 'account' | 'range' | 'program' | 'whole'
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
 * Before these, events are deleted and money is archived: IDs without prefix, and timestamps as
 * text. Objects that were made together differ by less than a minute, so these are a minute later.
 */
export type Floors = {
  events_floor: string
  events_since: string
  money_floor: string
  money_since: string
}

/** They are read once for all statements, because PostgreSQL plans `id_time` slowly. */
export async function readFloors(reader: SnapshotReader): Promise<Floors> {
  const [row] = await reader.rows<Floors>(`
    select ${floorOf('events')}, ${floorOf('money')}
      from (select max(since) filter (where history = 'events') as events,
                   max(since) filter (where history = 'money') as money
              from history_floors) f`)
  assert(row !== undefined, 'an aggregate returns a row')
  return row
}

const floorOf = (history: string) => `
  coalesce(id_time(nullif(${history}, '-infinity') + interval '1 minute'), '') as ${history}_floor,
  (${history} + interval '1 minute')::text as ${history}_since`

/** Every statement of a slice or an account begins with this. */
export const SLICES = `with slices as materialized (
  select s.*, $7::timestamptz as now,
         $8::text collate "C" as events_floor, $9::timestamptz as events_since,
         $10::text collate "C" as money_floor, $11::timestamptz as money_since
    from unnest($1::text[], $2::text[], $3::text[], $4::text[], $5::text[], $6::timestamptz[])
           as s (account_id, after, through, near_after, near_through, since)
)`

type SliceRun = { now: Date; floors: Floors }

export function sliceParams(slices: readonly Slice[], { now, floors }: SliceRun): unknown[] {
  return [
    slices.map(({ account_id }) => account_id),
    slices.map(({ after }) => after),
    slices.map(({ through }) => through),
    slices.map(({ near_after }) => near_after),
    slices.map(({ near_through }) => near_through),
    slices.map(({ since }) => since?.toISOString() ?? '-infinity'),
    now,
    floors.events_floor,
    floors.events_since,
    floors.money_floor,
    floors.money_since,
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
       and e.id > near.after ${end})`
  return `(case when ${at} < s.events_since then 1 else (
     select coalesce(nullif(${count('and e.id < near.before')}, 0), ${count('')})
       from ${idsBetween('evt', `${at} - interval '10 seconds'`, `${at} + interval '5 minutes'`)}
              near) end)`
}

/**
 * SQL: a row with the bounds of the IDs that were made between two times. It is a subquery with an
 * offset, because PostgreSQL otherwise copies these long expressions to every place and partition
 * that compares with them, and planning takes twice as long.
 */
export const idsBetween = (prefix: string, from: string, until = 'null'): string =>
  `(select '${prefix}_' || id_time(${from}) as after, '${prefix}_' || id_time(${until}) as before
    offset 0)`
