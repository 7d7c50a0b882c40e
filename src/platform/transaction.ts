import type pg from 'pg'
import { assert } from '#kernel/assert.ts'
import { asked, gather, wireOf } from './ask.ts'
import {
  asError,
  DatabaseUnavailable,
  faultOf,
  isUnavailable,
  isUseless,
} from './database_faults.ts'
import type { Fail } from './failpoints.ts'
import { named } from './statement.ts'
import { asking, type CommitBehind, type Tx } from './tx.ts'

/** Longer than the server's own limits: it is for a server that cannot be heard any more. */
const COMMIT_TIMEOUT_MS = 5_000

type Work<Value> = (tx: Tx, commitBehind: CommitBehind) => Promise<Value>

export async function inTransaction<Value>(
  client: pg.PoolClient,
  work: Work<Value>,
  fail: Fail,
): Promise<Value> {
  let committed: Promise<void> | undefined
  let fault: unknown
  const ask = (statement: pg.QueryConfig, data?: Buffer) => {
    assert(committed === undefined, 'nothing is asked behind a commit')
    gather(client)
    return asked(client, statement, data).catch((cause: unknown) => {
      // What failed first is what failed: whatever comes behind it is only refused for it.
      fault ??= faultOf(cause)
      throw fault
    })
  }
  const tx = asking(ask)
  const commitBehind = () => {
    fail('before_commit')
    committed = confirmed(client, ask(named('commit', [])))
    committed.catch(() => undefined)
  }
  let broken: Error | undefined
  try {
    fail('before_begin')
    // Not awaited: it travels with the first statement, and fails that one if it fails.
    const begun = ask(named('begin', []))
    begun.catch(() => undefined)
    const value = await work(tx, commitBehind)
    await begun
    if (committed === undefined) commitBehind()
    await committed
    fail('after_commit')
    return value
  } catch (cause) {
    // Closing the socket ends the transaction too, where a rollback would not be heard.
    if (cause instanceof DatabaseUnavailable || isUseless(cause)) broken = hangUp(client, cause)
    else broken = await client.query('rollback').then(() => undefined, asError)
    if (broken === undefined && !isUnavailable(cause)) throw cause
    throw cause instanceof DatabaseUnavailable
      ? cause
      : new DatabaseUnavailable('the database gave no answer', { cause })
  } finally {
    client.release(broken)
  }
}

/**
 * Confirmed, or not a success. A warning during COMMIT means that the wait for a standby was cut
 * short, and an answer that never comes is no answer: in both cases the outcome is unknown.
 */
async function confirmed(client: pg.PoolClient, answered: Promise<pg.QueryResult>): Promise<void> {
  let warning: string | undefined
  const hear = (notice: { message: string | undefined }) => {
    warning = notice.message ?? 'a warning'
  }
  client.on('notice', hear)
  let timer: NodeJS.Timeout | undefined
  const deadline = new Promise<never>((_, reject) => {
    timer = setTimeout(
      () => reject(new DatabaseUnavailable('commit was not confirmed in time')),
      COMMIT_TIMEOUT_MS,
    )
  })
  try {
    const { command } = await Promise.race([answered, deadline])
    // The server answers COMMIT with ROLLBACK where a statement had failed, and calls it success.
    if (command !== 'COMMIT') throw new Error('a statement had failed, so nothing was committed')
  } finally {
    clearTimeout(timer)
    client.off('notice', hear)
  }
  if (warning !== undefined) throw new DatabaseUnavailable(`commit is uncertain: ${warning}`)
}

/** At once and without a goodbye: what is still under way on this connection may never end. */
export function hangUp(client: pg.ClientBase, cause: unknown): Error {
  wireOf(client).destroy()
  return asError(cause)
}
