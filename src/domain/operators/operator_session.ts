import { createHash, timingSafeEqual } from 'node:crypto'
import { Problem } from '#contract/problem.ts'
import type { Keys } from '#platform/storage/keys.ts'

/** Issued for a token that requires a two-factor code. It ends with the token or after 8 hours. */
export type OperatorSession = { id: string; expires_at: Date }

const SESSION_MS = 8 * 60 * 60_000
const PATTERN = /^flos_(op_[0-9a-f]+)_(\d{1,15})_(\S+)$/
const PURPOSE = 'operator_session'

export const sessionStartOf = ({ expires_at }: OperatorSession): Date =>
  new Date(expires_at.getTime() - SESSION_MS)

/** A session holds its token id and expiry under a keyed hash, so it needs no row. */
export function newOperatorSession(
  keys: Keys,
  id: string,
  now: Date,
): { bearer: string; expires_at: string } {
  const expires_at = new Date(now.getTime() + SESSION_MS)
  const mac = keys.credentialHash(PURPOSE, signedTextOf({ id, expires_at }))
  return {
    bearer: `flos_${id}_${expires_at.getTime()}_${mac}`,
    expires_at: expires_at.toISOString(),
  }
}

/** Null if the bearer is not a session. Refuses a forged one. */
export function readOperatorSession(bearer: string, keys: Keys): OperatorSession | null {
  const [, id = '', expires = '', mac = ''] = PATTERN.exec(bearer) ?? []
  if (id === '') return null
  const session = { id, expires_at: new Date(Number(expires)) }
  const isAuthentic = keys
    .credentialHashes(PURPOSE, signedTextOf(session))
    .some((hash) => timingSafeEqual(digest(hash), digest(mac)))
  if (!isAuthentic) throw new Problem('invalid_token', 'This is not a valid operator session.')
  return session
}

const signedTextOf = ({ id, expires_at }: OperatorSession) => `${id}|${expires_at.getTime()}`
const digest = (text: string) => createHash('sha256').update(text).digest()
