import type { Database } from '#platform/postgres/db.ts'
import type { Clock } from '#platform/runtime/clock.ts'
import type { Task } from '#platform/runtime/tasks.ts'
import type { KeyUses } from './key_use.ts'

const KEPT_MS = 90 * 24 * 60 * 60 * 1_000

/** Deletes expired sessions, undo and reset links, key uses and guesses. */
export function sweepCredentialsTask({ db, clock }: { db: Database; clock: Clock }): Task {
  return {
    name: 'sweep_credentials',
    every_ms: 10 * 60_000,
    run: async () => {
      const before = new Date(clock.now().getTime() - KEPT_MS)
      await db.run('delete from sessions where expires_at < $1', [before])
      await db.run('delete from security_undos where expires_at < $1', [clock.now()])
      await db.run('delete from password_resets where expires_at < $1', [clock.now()])
      await db.run('delete from api_key_uses where day < $1::timestamptz::date', [before])
      await db.run(
        'delete from guesses where not exists (select from unnest(guessed_at) t where t > $1)',
        [before],
      )
    },
  }
}

/** Writes the collected last_used_at values, at most a second late. */
export function touchKeysTask(key_uses: KeyUses): Task {
  return { name: 'touch_keys', every_ms: 1_000, run: key_uses.flush }
}
