import { Problem } from '#contract/problem.ts'
import type { Tx } from '#platform/postgres/db.ts'
import type { Keys } from '#platform/storage/keys.ts'

/**
 * A bound on guessing passwords and codes: ten in 15 minutes for one subject. A guess is counted
 * before it is judged, so a thousand parallel ones are still ten; a right one clears the count.
 */
const GUESSES_MAX = 10
const WINDOW_MS = 15 * 60_000

type Guess = { tx: Tx; keys: Keys; subject: string; now: Date }

export async function requireGuessLeft({ tx, keys, subject, now }: Guess): Promise<void> {
  const since = new Date(now.getTime() - WINDOW_MS)
  const counted = await tx.run(
    `insert into guesses as g (subject_hash, guessed_at) values ($1, array[$2::timestamptz])
         on conflict (subject_hash) do update
        set guessed_at = array(select t from unnest(g.guessed_at) t where t > $3) || $2::timestamptz
      where (select count(*) from unnest(g.guessed_at) t where t > $3) < $4`,
    [keys.fingerprint('guess', subject), now, since, GUESSES_MAX],
  )
  if (counted === 1) return
  throw new Problem('too_many_attempts', 'Too many attempts. Try again later.', {
    retry_after_s: await secondsLeft({ tx, keys, subject, now }),
  })
}

/** The lock ends when the oldest of the ten leaves the window. */
async function secondsLeft({ tx, keys, subject, now }: Guess): Promise<number> {
  const since = new Date(now.getTime() - WINDOW_MS)
  const [row] = await tx.rows<{ oldest: Date | null }>(
    `select min(t) as oldest from guesses, unnest(guessed_at) t where subject_hash = $1 and t > $2`,
    [keys.fingerprint('guess', subject), since],
  )
  const free_at = (row?.oldest ?? now).getTime() + WINDOW_MS
  return Math.max(1, Math.ceil((free_at - now.getTime()) / 1_000))
}

export async function clearGuesses({ tx, keys, subject }: Omit<Guess, 'now'>): Promise<void> {
  await tx.run('delete from guesses where subject_hash = $1', [keys.fingerprint('guess', subject)])
}

/** For what turned out to be no guess at all; only this one, or a run of them would be free. */
export async function giveBackGuess({ tx, keys, subject, now }: Guess): Promise<void> {
  await tx.run(
    `update guesses
        set guessed_at = guessed_at[:array_position(guessed_at, $2) - 1]
                      || guessed_at[array_position(guessed_at, $2) + 1:]
      where subject_hash = $1 and $2 = any(guessed_at)`,
    [keys.fingerprint('guess', subject), now],
  )
}
