import type pg from 'pg'
import { assert } from '#kernel/assert.ts'
import type { Fail } from '#platform/runtime/failpoints.ts'
import {
  asError,
  DatabaseUnavailable,
  faultOf,
  isAborted,
  isUnavailable,
  isUseless,
} from './database_faults.ts'
import { corkUntilNextTick, sendStatement, socketOf } from './send_statement.ts'
import { prepared } from './statement.ts'
import { type CommitWith, makeTx, type Send, type Tx } from './tx.ts'

/** Longer than the server's own limits: it is for a server that cannot be heard any more. */
const COMMIT_TIMEOUT_MS = 5_000

type Work<Value> = (tx: Tx, commitWith: CommitWith) => Promise<Value>

type Manner = {
  fail: Fail
  send: Send
  /** Asked right behind BEGIN; where it fails, so does everything after it. */
  first?: pg.QueryConfig
}

export async function inTransaction<Value>(
  client: pg.PoolClient,
  work: Work<Value>,
  { fail, send, first }: Manner,
): Promise<Value> {
  let committed: Promise<void> | undefined
  const askInOrder = faultsInOrder(client)
  const ask: typeof askInOrder = (statement, data) => {
    assert(committed === undefined, 'nothing is asked behind a commit')
    corkUntilNextTick(client)
    return askInOrder(statement, data)
  }
  const commitWith: CommitWith = async (writes) => {
    fail('before_commit')
    const answers = writes.map((write) => send(ask, write))
    committed = confirmed(client, ask(prepared('commit', [])))
    committed.catch(() => undefined)
    await Promise.all(answers)
  }
  let broken: Error | undefined
  try {
    fail('before_begin')
    // Not awaited: it travels with the first statement, and fails that one if it fails.
    const begun = Promise.all([ask(prepared('begin', [])), first && ask(first)])
    begun.catch(() => undefined)
    const value = await work(makeTx(ask, send), commitWith)
    await begun
    if (committed === undefined) await commitWith([])
    await committed
    fail('after_commit')
    return value
  } catch (cause) {
    // Closing the socket ends the transaction too, where a rollback would not be heard.
    if (cause instanceof DatabaseUnavailable || isUseless(cause))
      broken = destroyConnection(client, cause)
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
 * Statements are sent without waiting for the answers of earlier ones, and their promises may
 * settle out of order: a COPY's rejection arrives one promise hop before that of a query ahead of
 * it. So a failure waits until the statements before it have settled, and a statement that was
 * refused only because the transaction had failed already reports the fault that failed it.
 */
function faultsInOrder(client: pg.PoolClient) {
  let fault: unknown
  let earlier: Promise<unknown> = Promise.resolve()
  return (statement: pg.QueryConfig, data?: Buffer): Promise<pg.QueryResult> => {
    const before = earlier
    const answer = sendStatement(client, statement, data).catch(async (cause: unknown) => {
      await before
      if (!isAborted(cause)) fault = faultOf(cause)
      throw fault ?? cause
    })
    earlier = answer.catch(() => undefined)
    return answer
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
export function destroyConnection(client: pg.ClientBase, cause: unknown): Error {
  socketOf(client).destroy()
  return asError(cause)
}
