import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type Database, openDatabase } from '#platform/postgres/db.ts'
import { SERVICE_ROLE } from '#platform/postgres/roles.ts'
import { systemClock } from '#platform/runtime/clock.ts'
import { silentLog } from '#platform/runtime/log.ts'
import { systemRandom } from '#platform/runtime/random.ts'
import type { Task } from '#platform/runtime/tasks.ts'
import { cloneDatabase } from '#test/support/database.ts'
import { addPartitionsTask } from './add_partitions_task.ts'

const DAY_MS = 86_400_000

type Books = { db: Database; clock: ReturnType<typeof systemClock>; task: Task; lines: string[] }

async function withTask(work: (books: Books) => Promise<void>): Promise<void> {
  const clone = await cloneDatabase()
  const db = openDatabase(clone.url, { pool_size: 2 })
  const role = { name: SERVICE_ROLE, can_copy: true }
  const service = openDatabase(clone.url, { pool_size: 2, role })
  const clock = systemClock()
  const lines: string[] = []
  const log = { ...silentLog, info: (message: string) => void lines.push(message) }
  const task = addPartitionsTask({ db: service, clock, random: systemRandom, log })
  try {
    await work({ db, clock, task, lines })
  } finally {
    await Promise.all([db.close(), service.close()])
    await clone.drop()
  }
}

/** The beginning of the last partition, whose rows are of months that were not added yet. */
async function firstMissingMonth(db: Database): Promise<Date> {
  const [last] = await db.rows<{ at: Date }>(
    `select id_month(lower_id) at time zone 'UTC' as at from partitions_of('movements')
      where upper_id is null`,
  )
  assert(last !== undefined)
  return last.at
}

/** Runs the task days before or after the first missing month while a transaction reads a table. */
async function runWhileBusy({ db, clock, task }: Books, days: number): Promise<void> {
  const at_ms = (await firstMissingMonth(db)).getTime() + days * DAY_MS
  clock.setOffset(at_ms - Date.now())
  await db.transaction(async (tx) => {
    await tx.rows('select from movements limit 1')
    await task.run()
  })
}

test('a busy table is left for the next run while its next month is weeks away', () =>
  withTask(async (books) => {
    await runWhileBusy(books, -20)
    assert.ok(books.lines.includes('a table was busy; its partitions are added later'))
  }))

test('the task fails if a table is busy when its next month is near, and the others get theirs', () =>
  withTask(async (books) => {
    const { db, task } = books
    const missing = await firstMissingMonth(db)
    for (const days of [-3, 3]) {
      await assert.rejects(runWhileBusy(books, days), /next month can't be added to movements:/)
    }
    assert.deepEqual(await firstMissingMonth(db), missing)
    const [events] = await db.rows<{ added: number }>(
      `select count(*)::integer - 2 as added from partitions_of('events')`,
    )
    assert.ok(Number(events?.added) > 0)
    await task.run()
    assert.ok((await firstMissingMonth(db)) > missing)
  }))
