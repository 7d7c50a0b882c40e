import type { Dependencies } from '#domain/context/context.ts'
import type { Task } from '#platform/runtime/tasks.ts'

/** How long an answer is kept under its Idempotency-Key; after that the key is as good as new. */
const KEPT_MS = 7 * 24 * 60 * 60 * 1_000

export function sweepAnswersTask({ db, clock }: Pick<Dependencies, 'db' | 'clock'>): Task {
  return {
    name: 'sweep_answers',
    every_ms: 60_000,
    run: async () => {
      const before = new Date(clock.now().getTime() - KEPT_MS)
      await db.run('delete from idempotent_answers where created_at < $1', [before])
    },
  }
}
