import type { Database } from '#platform/postgres/db.ts'
import type { Clock } from '#platform/runtime/clock.ts'
import type { Task } from '#platform/runtime/tasks.ts'
import type { Settings } from '#settings/settings.ts'
import { deleteMessagesBefore, sweepUndatedMessages } from './message_retention.ts'

const DAY_MS = 86_400_000

/** Deletes old messages of networks. Their purchases stay. */
export function sweepMessagesTask({
  db,
  clock,
  settings,
}: {
  db: Database
  clock: Clock
  settings: Settings
}): Task {
  let after = ''
  return {
    name: 'sweep_messages',
    every_ms: 600_000,
    run: async () => {
      const before = new Date(clock.now().getTime() - settings.retention.messages_days * DAY_MS)
      await deleteMessagesBefore(db, before)
      after = await sweepUndatedMessages(db, { before, after })
    },
  }
}
