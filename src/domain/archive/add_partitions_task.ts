import type { Database } from '#platform/postgres/db.ts'
import { onOneNode } from '#platform/postgres/one_node.ts'
import type { Clock } from '#platform/runtime/clock.ts'
import type { Log } from '#platform/runtime/log.ts'
import type { Random } from '#platform/runtime/random.ts'
import type { Task } from '#platform/runtime/tasks.ts'
import { addPartitions, PARTITIONED_TABLES } from './partitions.ts'

const TEN_MINUTES_MS = 600_000

type TaskDependencies = { db: Database; clock: Clock; random: Random; log: Log }

/**
 * Adds the next month's partitions ahead of time. Rows that come earlier go to the last partition,
 * so a month that is added late costs only its size.
 */
export function addPartitionsTask(dependencies: TaskDependencies): Task {
  const { db, clock, log } = dependencies
  const schedule = { task: 'add_partitions', every_ms: TEN_MINUTES_MS }
  return {
    name: schedule.task,
    every_ms: schedule.every_ms,
    run: onOneNode(dependencies, schedule, async () => {
      for (const table of PARTITIONED_TABLES) {
        const added = await addPartitions(db, table, clock.now())
        if (added === null) log.info('a table was busy; its partitions are added later', { table })
        else if (added > 0) log.info('partitions were added', { table, added })
      }
    }),
  }
}
