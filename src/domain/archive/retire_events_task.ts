import type { Database } from '#platform/postgres/db.ts'
import { onOneNode } from '#platform/postgres/one_node.ts'
import type { Clock } from '#platform/runtime/clock.ts'
import type { Log } from '#platform/runtime/log.ts'
import type { Random } from '#platform/runtime/random.ts'
import type { Task } from '#platform/runtime/tasks.ts'
import type { Settings } from '#settings/settings.ts'
import { retireEvents } from './partitions.ts'

const HOUR_MS = 3_600_000
const DAY_MS = 24 * HOUR_MS

type TaskDependencies = {
  db: Database
  clock: Clock
  random: Random
  log: Log
  settings: Settings
}

/** Deletes whole months of events when their last one is old enough. */
export function retireEventsTask(dependencies: TaskDependencies): Task {
  const { db, clock, log, settings } = dependencies
  const schedule = { task: 'retire_events', every_ms: HOUR_MS }
  return {
    name: schedule.task,
    every_ms: schedule.every_ms,
    run: onOneNode(dependencies, schedule, async () => {
      const age_ms = settings.retention.events_days * DAY_MS
      const retired = await retireEvents(db, new Date(clock.now().getTime() - age_ms))
      if (retired === null) log.info('events were in use; old ones are deleted later', {})
      else if (retired > 0) log.info('old events were deleted', { partitions: retired })
    }),
  }
}
