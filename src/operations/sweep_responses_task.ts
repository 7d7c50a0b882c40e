import type { Database } from '#platform/postgres/db.ts'
import type { Clock } from '#platform/runtime/clock.ts'
import type { Task } from '#platform/runtime/tasks.ts'
import { deleteResponsesBefore } from './perform/stored_responses.ts'

/** A response is replayed for this long. Afterwards the Idempotency-Key can be used again. */
const RETENTION_MS = 7 * 24 * 60 * 60 * 1_000

export function sweepResponsesTask({ db, clock }: { db: Database; clock: Clock }): Task {
  return {
    name: 'sweep_responses',
    every_ms: 60_000,
    run: () => deleteResponsesBefore(db, new Date(clock.now().getTime() - RETENTION_MS)),
  }
}
