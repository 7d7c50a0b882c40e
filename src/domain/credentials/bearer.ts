import { createHash } from 'node:crypto'
import { cellOfMark, markSecret } from '#kernel/cell.ts'
import { Secret } from '#kernel/secret.ts'
import type { Random } from '#platform/runtime/random.ts'
import type { Keys } from '#platform/storage/keys.ts'

/**
 * Bearers of sessions (fls_…) and API keys (flk_…): 260 random bits and a checksum, so a typo is
 * refused without a query. Between them is the number of the cell, unless it is 0. Only a keyed
 * hash is stored.
 */
const ALPHABET = '0123456789abcdefghjkmnpqrstvwxyz'
const BODY_LENGTH = 52
const CHECKSUM_LENGTH = 6
const SHOWN_LENGTH = 8

const LETTER = '[0-9a-hjkmnp-tv-z]'
const FORM = new RegExp(`^(fl[ks]_(?:live|test)_${LETTER}{52}(${LETTER}{2})?)(${LETTER}{6})$`)

const PREFIXES = { session: 'fls', api_key: 'flk' } as const
export type BearerKind = keyof typeof PREFIXES

export type Bearer = { text: Secret; hash: string; shown_prefix: string }

type BearerContext = { random: Random; keys: Keys; livemode: boolean; cell: number }

export function newBearer(
  kind: BearerKind,
  { random, keys, livemode, cell }: BearerContext,
): Bearer {
  const head = `${PREFIXES[kind]}_${livemode ? 'live' : 'test'}_`
  const letters = Array.from(random.bytes(BODY_LENGTH), (byte) => ALPHABET[byte & 31]).join('')
  const body = markSecret(letters, cell)
  const text = `${head}${body}${checksum(head + body)}`
  return {
    text: new Secret(text),
    hash: bearerHash(keys, text),
    shown_prefix: head + body.slice(0, SHOWN_LENGTH),
  }
}

/** Null for other credentials, such as OAuth tokens; `mistyped` if the checksum is wrong. */
export function bearerKindOf(text: string): BearerKind | 'mistyped' | null {
  const kind = text.startsWith('fls_') ? 'session' : text.startsWith('flk_') ? 'api_key' : null
  if (kind === null) return null
  const match = FORM.exec(text)
  return match !== null && checksum(match[1] ?? '') === match[3] ? kind : 'mistyped'
}

/** The cell of a bearer of this form; null if it names none. */
export function cellOfBearer(text: string): number | null {
  const match = FORM.exec(text)
  if (match === null) return null
  return match[2] === undefined ? 0 : cellOfMark(match[2])
}

export function bearerHash(keys: Keys, text: string): string {
  return keys.credentialHash('bearer', text)
}

/** The current hash first; during a key rotation there is an older one too. */
export function bearerHashes(keys: Keys, text: string): string[] {
  return keys.credentialHashes('bearer', text)
}

function checksum(text: string): string {
  const digest = createHash('sha256').update(text).digest()
  return Array.from(digest.subarray(0, CHECKSUM_LENGTH), (byte) => ALPHABET[byte & 31]).join('')
}
