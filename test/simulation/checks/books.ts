import { proveBooks } from '#main/audit.ts'
import { openDatabase } from '#platform/postgres/db.ts'
import type { Monitor } from '#test/simulation/monitor.ts'
import type { World } from '#test/simulation/world/world.ts'
import { assertEventsAreWhole } from '#test/support/event_proofs.ts'
import { florin } from '#test/support/florin_process.ts'

/** Proves the books, the event sequences and the audit chains while the clients go on. */
export async function checkBooks(world: World, monitor: Monitor): Promise<void> {
  await world.postgres.query('select 1')
  const db = openDatabase(world.postgres.url, { pool_size: 1 })
  try {
    const { violations } = await proveBooks(db)
    if (violations.length > 0) monitor.violate('the books are not sound', violations.slice(0, 5))
    await assertEventsAreWhole(db).catch((cause: Error) =>
      monitor.violate('events are not whole', cause.message.slice(0, 2_000)),
    )
  } finally {
    await db.close()
  }
}

const SEQUENCES = `
  with known as (select * from unnest($1::text[], $2::bigint[]) as k (account_id, last))
  select h.account_id, h.event_sequence::int as last, coalesce(k.last, 0)::int as known,
         e.events, e.numbers
    from account_sequences h
    left join known k using (account_id)
   cross join lateral (
           select count(*)::int as events, count(distinct sequence)::int as numbers
             from events
            where account_id = h.account_id and sequence > coalesce(k.last, 0)) e
   where h.event_sequence <> coalesce(k.last, 0)`

type SequenceRow = {
  account_id: string
  last: number
  known: number
  events: number
  numbers: number
}

/**
 * The cheapest of the proofs, after every fault: sequences have no gaps and no duplicates. It reads
 * the accounts that have new events; `checkBooks` reads all of them.
 */
export function sequenceCheck({ postgres }: World, monitor: Monitor): () => Promise<void> {
  const known = new Map<string, number>()
  return async () => {
    const values = [[...known.keys()], [...known.values()]]
    const rows = (await postgres.query(SEQUENCES, values)) as SequenceRow[]
    const wrong = rows.filter(
      ({ last, known: before, events, numbers }) => events !== last - before || numbers !== events,
    )
    if (wrong.length > 0) monitor.violate('a sequence has gaps or duplicates', wrong.slice(0, 5))
    for (const { account_id, last } of rows) known.set(account_id, last)
  }
}

/** The same commands that an operator would run. */
export async function runAuditCommands(world: World, monitor: Monitor): Promise<void> {
  const env = { ...world.env, FLORIN_DATABASE_URL: world.postgres.url }
  for (const words of [
    ['audit', 'books'],
    ['audit', 'verify'],
  ]) {
    const { code, output } = await florin(words, env)
    if (code !== 0) monitor.violate(`florin ${words.join(' ')} failed`, output.slice(-2_000))
  }
}
