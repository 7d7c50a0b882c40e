import { detachMonths, findLeaving } from '#domain/archive/leaving_store.ts'
import { addPartitions, PARTITIONED_TABLES, retireEvents } from '#domain/archive/partitions.ts'
import { assert } from '#kernel/assert.ts'
import { type Database, openDatabase } from '#platform/postgres/db.ts'

/** Later than the partitions of a new database. */
const LATER = new Date('2040-10-05T00:00:00Z')
const EVENT_BEFORE_IT = 'evt_01zzzzzzzz0000000000000000'

type Servers = { coordinator: string; worker: string }

/**
 * Adds partitions and deletes events through a worker, as the service's tasks do, and detaches
 * months through the coordinator, as `florin archive` does.
 */
export async function changePartitions({ coordinator, worker }: Servers): Promise<void> {
  await inDatabase(worker, async (db) => {
    // The last partition becomes the one of its months.
    await db.run(
      `insert into events (account_id, id, type, severity, message, resource_type, resource_id,
                           created_at)
       values ('', $1, 'card.frozen', 'info', '', 'card', '', $2)`,
      [EVENT_BEFORE_IT, LATER],
    )
    for (const table of PARTITIONED_TABLES) {
      assert(((await addPartitions(db, table, LATER)) ?? 0) > 0, `${table} got its partitions`)
    }
    assert((await retireEvents(db, LATER)) === 1, 'old events were deleted')
  })
  await inDatabase(coordinator, (db) =>
    db.transaction(async (tx) => {
      const leaving = await findLeaving(tx, LATER)
      assert(leaving !== null, 'old months were found')
      const { movements, transactions } = await detachMonths(tx, leaving)
      assert(movements.length > 0 && transactions.length > 0, 'old months were detached')
    }),
  )
}

async function inDatabase(server: string, work: (db: Database) => Promise<void>): Promise<void> {
  const db = openDatabase(server, { pool_size: 1 })
  try {
    await work(db)
  } finally {
    await db.close()
  }
}
