import type { Database } from '#platform/postgres/db.ts'
import { onOneNode } from '#platform/postgres/one_node.ts'
import type { Clock } from '#platform/runtime/clock.ts'
import type { Log } from '#platform/runtime/log.ts'
import type { Random } from '#platform/runtime/random.ts'
import type { Task } from '#platform/runtime/tasks.ts'
import { addPartitions, PARTITIONED_TABLES } from './partitions.ts'

const TEN_MINUTES_MS = 600_000
/** A month is due a month ahead, so by then a table has been busy for weeks. */
const NEAR_MS = 7 * 86_400_000

type TaskDependencies = { db: Database; clock: Clock; random: Random; log: Log }

/**
 * Adds the next month's partitions ahead of time. Rows that come earlier go to the last partition,
 * so a month that is added late costs only its size. The task fails if a table is still busy when
 * that is near, so that an alert reports it.
 */
export function addPartitionsTask(dependencies: TaskDependencies): Task {
  const { db, clock, log } = dependencies
  const schedule = { task: 'add_partitions', every_ms: TEN_MINUTES_MS }
  return {
    name: schedule.task,
    every_ms: schedule.every_ms,
    run: onOneNode(dependencies, schedule, async () => {
      const late: string[] = []
      for (const table of PARTITIONED_TABLES) {
        const added = await addPartitions(db, table, clock.now())
        if (added === null) {
          log.info('a table was busy; its partitions are added later', { table })
          if (await isNextMonthNear(db, table, clock.now())) late.push(table)
        } else if (added > 0) log.info('partitions were added', { table, added })
      }
      if (late.length === 0) return
      throw new Error(`the next month can't be added to ${late.join(', ')}: transactions lock them`)
    }),
  }
}

/** True if rows go to the last partition now, or soon. */
async function isNextMonthNear(db: Database, table: string, now: Date): Promise<boolean> {
  const [last] = await db.rows<{ is_near: boolean }>(
    `select id_month(lower_id) at time zone 'UTC' <= $2 as is_near
       from partitions_of($1) where upper_id is null`,
    [table, new Date(now.getTime() + NEAR_MS)],
  )
  return last?.is_near === true
}
