import { createHash, timingSafeEqual } from 'node:crypto'
import type { OperatorRole } from '#contract/operator/roles.ts'
import { Problem } from '#contract/problem.ts'
import { totpStepOf } from '#domain/credentials/totp.ts'
import { Secret } from '#kernel/secret.ts'
import { formatTimestamp } from '#kernel/timestamp.ts'
import type { Tx } from '#platform/postgres/db.ts'
import type { Clock } from '#platform/runtime/clock.ts'
import type { Random } from '#platform/runtime/random.ts'
import type { Keys } from '#platform/storage/keys.ts'
import { sealedColumn } from '#platform/storage/sealed_column.ts'
import type { Settings } from '#settings/settings.ts'
import type { Operator } from './operator.ts'
import {
  newOperatorSession,
  type OperatorSession,
  readOperatorSession,
  sessionStartOf,
} from './operator_session.ts'

/**
 * Operator tokens have 256 random bits, a name and an expiry, and are stored as a keyed hash. The
 * token in the settings is for setup and emergencies and has no row.
 */
export type OperatorTokenRow = {
  id: string
  name: string
  role: OperatorRole
  last_used_at: Date | null
  created_at: Date
  expires_at: Date
  revoked_at: Date | null
  needs_code: boolean
  totp_set_at: Date | null
}

const COLUMNS = `id, name, role, last_used_at, created_at, expires_at, revoked_at, totp_set_at,
  totp_secret_sealed is not null as needs_code`
const DAY_MS = 24 * 60 * 60_000
const OPERATOR_TOTP_PURPOSE = 'operator_totp'
export const OPERATOR_TOTP_SECRETS = sealedColumn(
  'operator_tokens',
  'totp_secret_sealed',
  OPERATOR_TOTP_PURPOSE,
)
const TOKEN_BYTES = 32
const ID_BYTES = 8
const FIRST_OPERATOR: Operator = { id: 'operator', name: 'FLORIN_OPERATOR_TOKEN', role: 'admin' }

type TokenInput = {
  random: Random
  keys: Keys
  now: Date
  livemode: boolean
  days: number
  /** Null if the token requires no two-factor code. */
  totp_secret: string | null
}

export async function createOperatorToken(
  tx: Tx,
  { name, role }: Pick<Operator, 'name' | 'role'>,
  { random, keys, now, livemode, days, totp_secret }: TokenInput,
): Promise<{ id: string; token: Secret }> {
  requireReadableName(name)
  const body = Buffer.from(random.bytes(TOKEN_BYTES)).toString('hex')
  const token = new Secret(`flo_${livemode ? 'live' : 'test'}_${body}`)
  const id = `op_${Buffer.from(random.bytes(ID_BYTES)).toString('hex')}`
  const inserted = await tx.run(
    `insert into operator_tokens (id, name, role, token_hash, created_at, expires_at,
                                  totp_secret_sealed)
     values ($1, $2, $3, $4, $5, $6, $7)
         on conflict (name) where revoked_at is null do nothing`,
    [
      id,
      name,
      role,
      keys.credentialHash(PURPOSE, token.open()),
      now,
      new Date(now.getTime() + days * DAY_MS),
      totp_secret === null ? null : keys.seal(OPERATOR_TOTP_PURPOSE, id, totp_secret),
    ],
  )
  if (inserted === 0) throw new Problem('invalid_request', `A token named ${name} already exists.`)
  return { id, token }
}

/** Letters, digits, punctuation and single spaces between them. */
const READABLE_NAME = /^[\p{L}\p{M}\p{N}\p{P}\p{S}]+( [\p{L}\p{M}\p{N}\p{P}\p{S}]+)*$/u
const NAME_LENGTH_MAX = 100

/**
 * The name says in every audit log who acted. An empty one says nothing, and two that differ in
 * spaces or invisible characters look the same.
 */
function requireReadableName(name: string): void {
  if (READABLE_NAME.test(name) && name.length <= NAME_LENGTH_MAX) return
  const message = `must be one line of 1 to ${NAME_LENGTH_MAX} characters without outer spaces`
  throw new Problem('invalid_request', `An operator's name ${message}.`)
}

export function findOperatorTokens(tx: Tx): Promise<OperatorTokenRow[]> {
  return tx.rows<OperatorTokenRow>(`select ${COLUMNS} from operator_tokens order by created_at, id`)
}

/** Returns false if no active token has this id or name. */
export async function revokeOperatorToken(tx: Tx, id_or_name: string, now: Date): Promise<boolean> {
  const revoked = await tx.run(
    `update operator_tokens set revoked_at = $2
      where (id = $1 or name = $1) and revoked_at is null`,
    [id_or_name, now],
  )
  return revoked > 0
}

/**
 * Sets or replaces the authenticator secret of a token. This ends the old secret and all sessions.
 * Returns null if no active token has this id or name.
 */
export async function setOperatorTotp(
  tx: Tx,
  id_or_name: string,
  { keys, now, totp_secret }: { keys: Keys; now: Date; totp_secret: string },
): Promise<{ name: string } | null> {
  const [row] = await tx.rows<{ id: string; name: string }>(
    `select id, name from operator_tokens
      where (id = $1 or name = $1) and revoked_at is null for update`,
    [id_or_name],
  )
  if (row === undefined) return null
  await tx.run(
    `update operator_tokens set totp_secret_sealed = $2, totp_step = null, totp_set_at = $3
      where id = $1`,
    [row.id, keys.seal(OPERATOR_TOTP_PURPOSE, row.id, totp_secret), now],
  )
  return { name: row.name }
}

type OperatorCredentialContext = { db: Tx; keys: Keys; settings: Settings; now: Date }

/** Never cached, so every node refuses a revoked token immediately. */
export async function operatorOf(
  bearer: string | null,
  context: OperatorCredentialContext,
): Promise<Operator> {
  if (bearer === null) {
    throw new Problem(
      'missing_token',
      'Send an Authorization: Bearer header with an operator token.',
    )
  }
  const first = context.settings.operator_token?.open()
  if (first !== undefined && timingSafeEqual(digest(bearer), digest(first))) {
    await requireFirstTokenUnexpired(first, context)
    return FIRST_OPERATOR
  }
  const session = readOperatorSession(bearer, context.keys)
  const row =
    session === null ? await findToken(bearer, context) : await findTokenOfSession(session, context)
  if (session === null && row.needs_code) {
    throw new Problem(
      'totp_required',
      'This operator token requires a two-factor code. Sign in at POST /operator/v1/sessions.',
    )
  }
  const { db, keys, now } = context
  const hash = session === null ? keys.credentialHash(PURPOSE, bearer) : null
  await touchToken(db, row, { now, hash })
  return { id: row.id, name: row.name, role: row.role }
}

/** The token in the settings expires a number of days after its first use. */
async function requireFirstTokenUnexpired(
  token: string,
  { db, keys, settings, now }: OperatorCredentialContext,
) {
  const days = settings.first_operator_token_days
  if (days === null) return
  const hash = keys.fingerprint('first_operator_token', token)
  await db.run(
    `insert into first_operator_tokens (token_hash, first_used_at) values ($1, $2)
         on conflict do nothing`,
    [hash, now],
  )
  const [row] = await db.rows<{ first_used_at: Date }>(
    'select first_used_at from first_operator_tokens where token_hash = $1',
    [hash],
  )
  requireUnexpired(new Date((row?.first_used_at ?? now).getTime() + days * DAY_MS), now)
}

function requireUnexpired(expires_at: Date, now: Date): void {
  if (expires_at > now) return
  const expired_at = formatTimestamp(expires_at)
  throw new Problem('token_expired', `This operator token expired on ${expired_at}.`)
}

async function findToken(
  token: string,
  { db, keys, now }: OperatorCredentialContext,
): Promise<OperatorTokenRow> {
  const rows = await db.rows<OperatorTokenRow>(
    `select ${COLUMNS} from operator_tokens where token_hash = any($1)`,
    [keys.credentialHashes(PURPOSE, token)],
  )
  return requireActive(rows[0], now)
}

function requireActive(row: OperatorTokenRow | undefined, now: Date): OperatorTokenRow {
  if (row === undefined) throw new Problem('invalid_token', 'This is not a valid operator token.')
  if (row.revoked_at !== null) {
    throw new Problem('token_revoked', 'This operator token was revoked.')
  }
  requireUnexpired(row.expires_at, now)
  return row
}

async function findTokenOfSession(
  session: OperatorSession,
  { db, now }: OperatorCredentialContext,
): Promise<OperatorTokenRow> {
  if (session.expires_at <= now) {
    throw new Problem('token_expired', 'This operator session has ended. Sign in again.')
  }
  const rows = await db.rows<OperatorTokenRow>(
    `select ${COLUMNS} from operator_tokens where id = $1`,
    [session.id],
  )
  const row = requireActive(rows[0], now)
  if (row.totp_set_at !== null && sessionStartOf(session) < row.totp_set_at) {
    throw new Problem('token_expired', 'This operator session has ended. Sign in again.')
  }
  return row
}

/** Exchanges a token and a two-factor code for a session. Each code works once. */
export async function signInOperator(
  bearer: string | null,
  totp_code: string,
  context: OperatorCredentialContext & { clock: Clock },
): Promise<{ bearer: string; expires_at: string }> {
  const row = await findToken(bearer ?? '', context)
  if (!row.needs_code) {
    throw new Problem(
      'totp_not_enabled',
      'This operator token has no two-factor authentication. Use it directly.',
    )
  }
  const { db, keys, clock, now } = context
  const [sealed] = await db.rows<{ totp_secret_sealed: string }>(
    'select totp_secret_sealed from operator_tokens where id = $1',
    [row.id],
  )
  const secret = keys.open(OPERATOR_TOTP_PURPOSE, row.id, sealed?.totp_secret_sealed ?? '')
  const step = totpStepOf(secret, totp_code, clock.wall())
  const used =
    step === null
      ? 0
      : await db.run(
          `update operator_tokens set totp_step = $2, last_used_at = $3
            where id = $1 and (totp_step is null or totp_step < $2)`,
          [row.id, step, now],
        )
  if (used === 0) throw new Problem('totp_invalid', 'The code is incorrect or was already used.')
  return newOperatorSession(keys, row.id, now)
}

const TOUCH_MS = 60_000

/** Updates last_used_at at most once a minute, and rehashes the token with the current key root. */
async function touchToken(
  db: Tx,
  { id, last_used_at }: OperatorTokenRow,
  { now, hash }: { now: Date; hash: string | null },
): Promise<void> {
  if (last_used_at !== null && now.getTime() - last_used_at.getTime() < TOUCH_MS) return
  await db.run(
    `update operator_tokens set last_used_at = $2, token_hash = coalesce($3, token_hash)
      where id = $1`,
    [id, now, hash],
  )
}

const PURPOSE = 'operator'
const digest = (text: string) => createHash('sha256').update(text).digest()
