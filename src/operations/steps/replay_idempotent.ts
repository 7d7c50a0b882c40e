import { type OperationShape, pathNames } from '#contract/operation.ts'
import { Problem } from '#contract/problem.ts'
import type { Caller } from '#domain/context/context.ts'
import { canonicalJson } from '#kernel/canonical.ts'
import type { Tx } from '#platform/postgres/db.ts'
import type { Keys } from '#platform/storage/keys.ts'

/** A kept answer is found by where the key counts, the key, and what was asked under it. */
export type IdempotentCall = {
  scope: string
  key: string
  fingerprint: string
  account_id: string | null
}

export type StoredAnswer = { fingerprint: string; status: number; body: string }

/** As an argument of a tool it may have megabytes, and the pattern goes through them twice. */
const QUOTED_LENGTH_MAX = 257
const KEY_FORM = /^[\x21-\x7e]{1,255}$/

/** 1 to 255 visible characters; the standard's quoted form means the same key. */
export function readIdempotencyKey(header: string | null): string | null {
  if (header === null) return null
  const quoted = header.length > QUOTED_LENGTH_MAX ? null : /^"(.*)"$/.exec(header)
  const key = quoted?.[1] ?? header
  if (KEY_FORM.test(key)) return key
  throw new Problem(
    'invalid_idempotency_key',
    'Idempotency-Key must be 1 to 255 visible ASCII characters without spaces.',
  )
}

type Asked = {
  operation: OperationShape
  caller: Caller | null
  input: Readonly<Record<string, unknown>>
  key: string
  keys: Keys
}

/**
 * The fingerprint is keyed: it covers the whole input, passwords too, and must not help whoever
 * holds a copy of the database to guess them.
 */
export function idempotentCall({ operation, caller, input, key, keys }: Asked): IdempotentCall {
  const ids = pathNames(operation.path).map((name) => String(input[name]))
  const owner = caller?.account_id ?? `email:${String(input['email']).toLowerCase()}`
  const asked = canonicalJson([operation.method, operation.path, input])
  return {
    scope: [owner, operation.name, ...ids].join('|'),
    key,
    fingerprint: keys.fingerprint('idempotency', asked),
    account_id: caller?.account_id ?? null,
  }
}

/**
 * Takes the key for this transaction. Another one that holds it is still running: nothing marks
 * that but its lock, so a crash leaves nothing behind. The first lock of any transaction.
 */
export async function lockIdempotencyKey(tx: Tx, { scope, key }: IdempotentCall): Promise<void> {
  const [row] = await tx.rows<{ locked: boolean }>(
    'select pg_try_advisory_xact_lock(hashtextextended($1, 0)) as locked',
    [`${scope}|${key}`],
  )
  if (row?.locked) return
  throw new Problem(
    'idempotency_in_progress',
    'A request with this Idempotency-Key is still in progress. Retry in a moment.',
    { retry_after_s: 1 },
  )
}

export async function findStoredAnswer(
  tx: Tx,
  { scope, key, fingerprint }: IdempotentCall,
): Promise<StoredAnswer | undefined> {
  const [stored] = await tx.rows<StoredAnswer>(
    'select fingerprint, status, body from idempotent_answers where scope = $1 and key = $2',
    [scope, key],
  )
  if (stored !== undefined && stored.fingerprint !== fingerprint) {
    throw new Problem(
      'idempotency_key_reused',
      'This Idempotency-Key was used for a different request. Use a new key.',
    )
  }
  return stored
}

/** A small write: its commit waits for whatever the commit of the stored answer had to wait for. */
export async function markReplayed(tx: Tx, call: IdempotentCall, now: Date): Promise<void> {
  await tx.run('update idempotent_answers set replayed_at = $3 where scope = $1 and key = $2', [
    call.scope,
    call.key,
    now,
  ])
}

export async function storeAnswer(
  tx: Tx,
  call: IdempotentCall,
  answer: { status: number; body: string; now: Date },
): Promise<void> {
  await tx.run(
    `insert into idempotent_answers (scope, key, fingerprint, status, body, account_id, created_at)
     values ($1, $2, $3, $4, $5, $6, $7)`,
    [
      call.scope,
      call.key,
      call.fingerprint,
      answer.status,
      answer.body,
      call.account_id,
      answer.now,
    ],
  )
}

/** What is shown once is not kept: a replay carries null in its place. */
export function storedBody(operation: OperationShape, output: unknown): string {
  const once = operation.shown_once ?? []
  if (once.length === 0) return JSON.stringify(output)
  const kept = { ...(output as Record<string, unknown>) }
  for (const name of once) if (name in kept) kept[name] = null
  return JSON.stringify(kept)
}

/** Business answers are kept; what may turn out otherwise next time is not. */
export function isStorable(problem: Problem): boolean {
  return problem.status === 409 || problem.status === 422
}
