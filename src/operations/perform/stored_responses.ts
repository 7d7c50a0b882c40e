import type { Operation } from '#contract/operation.ts'
import { Problem, type ProblemCode } from '#contract/problem.ts'
import { keyOfText } from '#platform/postgres/advisory_key.ts'
import type { Tx } from '#platform/postgres/db.ts'
import { plainWrite, type Write } from '#platform/postgres/write.ts'

/** A request under an Idempotency-Key. */
export type IdempotentRequest = {
  /** Account, operation and path: a key is unique within them. */
  scope: string
  key: string
  fingerprint: string
  account_id: string | null
}

export type StoredResponse = { status: number; problem_code: ProblemCode | null; body: string }

/**
 * Takes the key for this transaction, or returns what is stored under it. The lock alone marks a
 * call in progress, so a crash leaves nothing behind. The first lock of any transaction. A stored
 * response is final: repeats of a finished call at the same time all get it.
 */
export async function takeKey(
  tx: Tx,
  request: IdempotentRequest,
): Promise<StoredResponse | undefined> {
  const { scope, key } = request
  const [[row], stored] = await Promise.all([
    tx.rows<{ locked: boolean }>(`select pg_try_advisory_xact_lock(${keyOfText()}) as locked`, [
      `${scope}|${key}`,
    ]),
    // After the lock, in the same round trip: it sees what the last holder committed.
    findStoredResponse(tx, request),
  ])
  if (stored === undefined && !row?.locked) throw inProgress()
  return stored
}

/** A call that is prepared before its transaction. */
type PreparedCall<Value> = {
  run(): Promise<Value>
  /** True once its response is stored: then it only replays. */
  isStored(): Promise<boolean>
}

/**
 * Runs a call that is prepared before its transaction: it may wait for another system, so no lock
 * can be held. The key is taken in this process only, and a crash leaves nothing behind.
 */
export async function takingKey<Value>(
  taken: Set<string>,
  { scope, key }: IdempotentRequest,
  { run, isStored }: PreparedCall<Value>,
): Promise<Value> {
  const name = `${scope}|${key}`
  if (taken.has(name)) {
    if (await isStored()) return run()
    throw inProgress()
  }
  taken.add(name)
  try {
    return await run()
  } finally {
    taken.delete(name)
  }
}

const inProgress = () =>
  new Problem(
    'idempotency_in_progress',
    'A request with this Idempotency-Key is still in progress. Retry in a moment.',
    { retry_after_s: 1 },
  )

type ResponseRow = { fingerprint: string; status: number; body: string }

export async function findStoredResponse(
  tx: Tx,
  { scope, key, fingerprint }: IdempotentRequest,
): Promise<StoredResponse | undefined> {
  const [row] = await tx.rows<ResponseRow>(
    'select fingerprint, status, body from stored_responses where scope = $1 and key = $2',
    [scope, key],
  )
  if (row === undefined) return undefined
  if (row.fingerprint !== fingerprint) {
    throw new Problem(
      'idempotency_key_reused',
      'This Idempotency-Key was used for a different request. Use a new key.',
    )
  }
  const { status, body } = row
  const problem_code = status < 400 ? null : (JSON.parse(body) as { error: ProblemCode }).error
  return { status, problem_code, body }
}

/** A write, so that its commit waits for the replication of the stored response. */
export async function markReplayed(tx: Tx, request: IdempotentRequest, now: Date): Promise<void> {
  await tx.run('update stored_responses set replayed_at = $3 where scope = $1 and key = $2', [
    request.scope,
    request.key,
    now,
  ])
}

export function newStoredResponse(
  request: IdempotentRequest,
  { status, body, now }: { status: number; body: string; now: Date },
): Write {
  const { scope, key, fingerprint, account_id } = request
  return plainWrite(
    `insert into stored_responses (scope, key, fingerprint, status, body, account_id, created_at)
     values ($1, $2, $3, $4, $5, $6, $7)`,
    [scope, key, fingerprint, status, body, account_id, now],
  )
}

export async function deleteResponsesBefore(tx: Tx, before: Date): Promise<void> {
  await tx.run('delete from stored_responses where created_at < $1', [before])
}

/** Values that are shown only once are not stored: a replay has null instead. */
export function storedBody({ shown_once = [] }: Operation, output: object): string {
  if (shown_once.length === 0) return JSON.stringify(output)
  const stored = { ...(output as Record<string, unknown>) }
  for (const name of shown_once) if (name in stored) stored[name] = null
  return JSON.stringify(stored)
}

/** Refusals by the state of the account are stored; those that a retry can fix are not. */
export function isStorable({ status }: Problem): boolean {
  return status === 409 || status === 422
}
