import { createHash, timingSafeEqual } from 'node:crypto'
import { Problem } from '#contract/problem.ts'
import { Secret } from '#kernel/secret.ts'
import type { Settings } from '#platform/config.ts'
import type { Tx } from '#platform/db.ts'
import type { Keys } from '#platform/keys.ts'
import type { Random } from '#platform/random.ts'
import type { Operator, OperatorRole } from './operator.ts'

/**
 * Tokens of those who run the programme: 256 random bits, kept as a keyed hash, named and
 * revocable. The one in the settings is for the first minutes and for emergencies; it has no row.
 */
export type OperatorTokenRow = {
  id: string
  name: string
  role: OperatorRole
  last_used_at: Date | null
  created_at: Date
  revoked_at: Date | null
}

const COLUMNS = 'id, name, role, last_used_at, created_at, revoked_at'
const TOKEN_BYTES = 32
const ID_BYTES = 8
const FIRST_OPERATOR: Operator = { id: 'operator', name: 'FLORIN_OPERATOR_TOKEN', role: 'admin' }

type Making = {
  random: Random
  keys: Keys
  now: Date
  livemode: boolean
}

export async function createOperatorToken(
  tx: Tx,
  { name, role }: Pick<Operator, 'name' | 'role'>,
  { random, keys, now, livemode }: Making,
): Promise<{ id: string; token: Secret }> {
  const body = Buffer.from(random.bytes(TOKEN_BYTES)).toString('hex')
  const token = new Secret(`flo_${livemode ? 'live' : 'test'}_${body}`)
  const id = `op_${Buffer.from(random.bytes(ID_BYTES)).toString('hex')}`
  const made = await tx.run(
    `insert into operator_tokens (id, name, role, token_hash, created_at)
     values ($1, $2, $3, $4, $5)
         on conflict (name) where revoked_at is null do nothing`,
    [id, name, role, keys.credentialHash(PURPOSE, token.open()), now],
  )
  if (made === 0) throw new Problem('invalid_request', `There is a token named ${name} already.`)
  return { id, token }
}

export function findOperatorTokens(tx: Tx): Promise<OperatorTokenRow[]> {
  return tx.rows<OperatorTokenRow>(`select ${COLUMNS} from operator_tokens order by created_at, id`)
}

/** By id or by name; false where there is no such token, or it was revoked before. */
export async function revokeOperatorToken(tx: Tx, which: string, now: Date): Promise<boolean> {
  const revoked = await tx.run(
    `update operator_tokens set revoked_at = $2
      where (id = $1 or name = $1) and revoked_at is null`,
    [which, now],
  )
  return revoked > 0
}

type Asking = { db: Tx; keys: Keys; settings: Settings; now: Date }

/** Asked of the database every time, so that a revoked token is refused at once, everywhere. */
export async function operatorOf(bearer: string | null, asking: Asking): Promise<Operator> {
  const { db, keys, settings, now } = asking
  if (bearer === null) {
    throw new Problem('missing_token', 'Send Authorization: Bearer with an operator token.')
  }
  const first = settings.operator_token?.open()
  if (first !== undefined && timingSafeEqual(digest(bearer), digest(first))) return FIRST_OPERATOR
  const [row] = await db.rows<OperatorTokenRow>(
    `select ${COLUMNS} from operator_tokens where token_hash = any($1)`,
    [keys.credentialHashes(PURPOSE, bearer)],
  )
  if (row === undefined) throw new Problem('invalid_token', 'This is not an operator token.')
  if (row.revoked_at !== null) {
    throw new Problem('token_revoked', 'This operator token was revoked.')
  }
  await touch(db, row, { now, hash: keys.credentialHash(PURPOSE, bearer) })
  return { id: row.id, name: row.name, role: row.role }
}

const TOUCH_MS = 60_000

/** The hash comes under the current root of credentials by the way. */
async function touch(
  db: Tx,
  { id, last_used_at }: OperatorTokenRow,
  { now, hash }: { now: Date; hash: string },
): Promise<void> {
  if (last_used_at !== null && now.getTime() - last_used_at.getTime() < TOUCH_MS) return
  await db.run('update operator_tokens set last_used_at = $2, token_hash = $3 where id = $1', [
    id,
    now,
    hash,
  ])
}

const PURPOSE = 'operator'
const digest = (text: string) => createHash('sha256').update(text).digest()
