import { Problem } from '#contract/problem.ts'
import type { Tx } from '#platform/postgres/db.ts'
import type { Keys } from '#platform/storage/keys.ts'

/**
 * Limits guesses of passwords and codes to ten in 15 minutes per subject. A guess is counted before
 * it is checked, so concurrent guesses can't exceed the limit. A correct one clears the count.
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
    retry_after_s: await secondsUntilAllowed({ tx, keys, subject, now }),
  })
}

/** A guess is allowed again when the oldest one leaves the window. */
async function secondsUntilAllowed({ tx, keys, subject, now }: Guess): Promise<number> {
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

/** Removes this guess only; clearing all of them would make guesses free. */
export async function uncountGuess({ tx, keys, subject, now }: Guess): Promise<void> {
  await tx.run(
    `update guesses
        set guessed_at = guessed_at[:array_position(guessed_at, $2) - 1]
                      || guessed_at[array_position(guessed_at, $2) + 1:]
      where subject_hash = $1 and $2 = any(guessed_at)`,
    [keys.fingerprint('guess', subject), now],
  )
}
