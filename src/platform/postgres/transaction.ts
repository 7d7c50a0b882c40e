import type pg from 'pg'
import { assert } from '#kernel/assert.ts'
import type { Fail } from '#platform/runtime/failpoints.ts'
import {
  asError,
  DatabaseUnavailable,
  faultOf,
  isAborted,
  isConnectionDead,
  isUnavailable,
} from './database_faults.ts'
import type { StatementResult } from './pipeline.ts'
import { sendPipeline, sendStatement, socketOf } from './send_statement.ts'
import { prepared } from './statement.ts'
import { type CommitWith, makeTx, type Send, type Tx } from './tx.ts'

/** For a server that has stopped responding; its own limits are shorter. */
const COMMIT_TIMEOUT_MS = 5_000

type Work<Value> = (tx: Tx, commitWith: CommitWith) => Promise<Value>

type TransactionOptions = {
  fail: Fail
  send: Send
  /** Sent immediately after BEGIN; if it fails, so does the transaction. */
  first?: pg.QueryConfig
}

export async function runTransaction<Value>(
  client: pg.PoolClient,
  work: Work<Value>,
  { fail, send, first }: TransactionOptions,
): Promise<Value> {
  let committed: Promise<void> | undefined
  const executeReporting = reportFirstFault(client)
  const execute: typeof executeReporting = (statement, data) => {
    assert(committed === undefined, 'no statement follows the commit')
    return executeReporting(statement, data)
  }
  const commitWith: CommitWith = async (writes) => {
    fail('before_commit')
    const answers = writes.map((write) => send(execute, write))
    committed = requireConfirmed(client, execute(prepared('commit', [])))
    committed.catch(() => undefined)
    await Promise.all(answers)
  }
  let broken: Error | undefined
  try {
    fail('before_begin')
    // Not awaited: it is sent with the first statement, which fails if it fails.
    const begun = Promise.all([execute(prepared('begin', [])), first && execute(first)])
    begun.catch(() => undefined)
    const value = await work(makeTx(execute, send), commitWith)
    await begun
    if (committed === undefined) await commitWith([])
    await committed
    fail('after_commit')
    return value
  } catch (cause) {
    // A server that doesn't respond won't process a rollback; closing the socket ends it too.
    if (cause instanceof DatabaseUnavailable || isConnectionDead(cause))
      broken = destroyConnection(client, cause)
    else broken = await rollBack(client)
    if (broken === undefined && !isUnavailable(cause)) throw cause
    throw cause instanceof DatabaseUnavailable
      ? cause
      : new DatabaseUnavailable('the database did not respond', { cause })
  } finally {
    client.release(broken)
  }
}

/**
 * Returns the reason for the failure. Without a timeout, a silent server would keep the connection
 * forever.
 */
async function rollBack(client: pg.PoolClient): Promise<Error | undefined> {
  const statement = { text: 'rollback', query_timeout: COMMIT_TIMEOUT_MS }
  // Statements that wait for the end of the turn belong to the transaction, too.
  sendPipeline(client)
  try {
    await client.query(statement as pg.QueryConfig)
    return undefined
  } catch (cause) {
    return destroyConnection(client, cause)
  }
}

/**
 * Statements are sent without waiting for earlier results. One that was refused only because the
 * transaction had already failed reports the original fault.
 */
function reportFirstFault(client: pg.PoolClient) {
  let fault: unknown
  return (statement: pg.QueryConfig, data?: Buffer): Promise<StatementResult> =>
    sendStatement(client, statement, data).catch((cause: unknown) => {
      if (!isAborted(cause)) fault = faultOf(cause)
      throw fault ?? cause
    })
}

/**
 * Throws unless the server confirms the commit. A warning means that the wait for a standby was cut
 * short; after it, and after a timeout, the outcome is unknown.
 */
async function requireConfirmed(
  client: pg.PoolClient,
  answered: Promise<StatementResult>,
): Promise<void> {
  let warning: string | undefined
  const onNotice = (notice: { message: string | undefined }) => {
    warning = notice.message ?? 'a warning'
  }
  client.on('notice', onNotice)
  let timer: NodeJS.Timeout | undefined
  const deadline = new Promise<never>((_, reject) => {
    timer = setTimeout(
      () => reject(new DatabaseUnavailable('commit was not confirmed in time')),
      COMMIT_TIMEOUT_MS,
    )
  })
  try {
    const { command } = await Promise.race([answered, deadline])
    // After a failed statement the server responds to COMMIT with ROLLBACK, without an error.
    if (command !== 'COMMIT') throw new Error('a statement had failed, so nothing was committed')
  } finally {
    clearTimeout(timer)
    client.off('notice', onNotice)
  }
  if (warning !== undefined) throw new DatabaseUnavailable(`commit is uncertain: ${warning}`)
}

/** Closes the socket without waiting: statements on this connection may never finish. */
export function destroyConnection(client: pg.ClientBase, cause: unknown): Error {
  socketOf(client).destroy()
  return asError(cause)
}
