import { Problem } from '#contract/problem.ts'
import type { Tx } from '#platform/postgres/db.ts'
import type { Keys } from '#platform/storage/keys.ts'

type AttemptLimit = { max: number; window_ms: number }

/**
 * Limits guesses of passwords and codes to ten in 15 minutes per subject. A guess is counted before
 * it is checked, so concurrent guesses can't exceed the limit. A correct one clears the count.
 */
const GUESS_LIMIT: AttemptLimit = { max: 10, window_ms: 15 * 60_000 }

type GuessAttempt = { tx: Tx; keys: Keys; subject: string; now: Date }

export async function requireGuessLeft(guess: GuessAttempt): Promise<void> {
  const retry_after_s = await countAttempt(guess, GUESS_LIMIT)
  if (retry_after_s === null) return
  throw new Problem('too_many_attempts', 'Too many attempts. Try again later.', { retry_after_s })
}

/** Counts an attempt. If none is left, returns the seconds until one is. */
export async function countAttempt(
  { tx, keys, subject, now }: GuessAttempt,
  { max, window_ms }: AttemptLimit,
): Promise<number | null> {
  const since = new Date(now.getTime() - window_ms)
  const counted = await tx.run(
    `insert into guesses as g (subject_hash, guessed_at) values ($1, array[$2::timestamptz])
         on conflict (subject_hash) do update
        set guessed_at = times_after(g.guessed_at, $3) || $2::timestamptz
      where cardinality(times_after(g.guessed_at, $3)) < $4`,
    [keys.fingerprint('guess', subject), now, since, max],
  )
  return counted === 1 ? null : secondsUntilAllowed({ tx, keys, subject, now }, window_ms)
}

/** An attempt is allowed again when the oldest one leaves the window. */
async function secondsUntilAllowed(
  { tx, keys, subject, now }: GuessAttempt,
  window_ms: number,
): Promise<number> {
  const since = new Date(now.getTime() - window_ms)
  const [row] = await tx.rows<{ oldest: Date | null }>(
    `select min(t) as oldest from guesses, unnest(guessed_at) t where subject_hash = $1 and t > $2`,
    [keys.fingerprint('guess', subject), since],
  )
  const free_at = (row?.oldest ?? now).getTime() + window_ms
  return Math.max(1, Math.ceil((free_at - now.getTime()) / 1_000))
}

export async function clearGuesses({
  tx,
  keys,
  subject,
}: Omit<GuessAttempt, 'now'>): Promise<void> {
  await tx.run('delete from guesses where subject_hash = $1', [keys.fingerprint('guess', subject)])
}

/** Removes this guess only; clearing all of them would make guesses free. */
export async function uncountGuess({ tx, keys, subject, now }: GuessAttempt): Promise<void> {
  await tx.run(
    `update guesses
        set guessed_at = guessed_at[:array_position(guessed_at, $2) - 1]
                      || guessed_at[array_position(guessed_at, $2) + 1:]
      where subject_hash = $1 and $2 = any(guessed_at)`,
    [keys.fingerprint('guess', subject), now],
  )
}
