import { ConcurrentUpdate } from './concurrent_update.ts'
import { WRONG_ROW_COUNT } from './statement.ts'

/** The database cannot be reached, or the outcome of a commit is unknown. */
export class DatabaseUnavailable extends Error {}

export const asError = (cause: unknown): Error =>
  cause instanceof Error ? cause : new Error(String(cause))

const codeOf = (cause: unknown) => (cause as { code?: unknown } | null)?.code

/** A wrong row count means that another transaction changed the rows. */
export const faultOf = (cause: unknown): unknown =>
  codeOf(cause) === WRONG_ROW_COUNT
    ? new ConcurrentUpdate('a row changed after it was read', { cause })
    : cause

/** The transaction had already failed, so this statement is not the cause. */
export const isAborted = (cause: unknown): boolean => codeOf(cause) === '25P02'

/** Deadlocks and serialization failures, after which nothing was written. */
export function isRetryable(cause: unknown): boolean {
  return codeOf(cause) === '40P01' || codeOf(cause) === '40001'
}

/**
 * The host became a standby or stopped responding, or the database moved: close it. A worker of
 * Citus that no longer has the rows reports that it can't connect to the one that has (08).
 */
export function isConnectionDead(cause: unknown): boolean {
  const code = codeOf(cause)
  if (typeof code === 'string' && /^(25006|08)/.test(code)) return true
  return (cause as Error | null)?.message === 'Query read timeout'
}

const SOCKET_CODES = [
  'ECONNREFUSED',
  'ECONNRESET',
  'EPIPE',
  'ETIMEDOUT',
  'ENOTFOUND',
  'EHOSTUNREACH',
]

/** Citus gives it no code of its own: a worker failed before the commit, so nothing is written. */
const CITUS_COMMIT = /^could not commit transaction for shard/
const INTERNAL_ERROR = 'XX000'

/** As a fatal error: an administrator lets nobody connect for now. Statements give it too. */
const WRONG_STATE = '55000'

/**
 * SQLSTATE classes: 08 connection, 57P shutting down, 53 out of resources, 25006 read-only standby,
 * 57014 statement timeout, 55P03 lock timeout.
 */
export function isUnavailable(cause: unknown): boolean {
  const code = codeOf(cause)
  if (typeof code === 'string') {
    if (code === INTERNAL_ERROR) return CITUS_COMMIT.test((cause as Error).message)
    if (code === WRONG_STATE) return (cause as { severity?: string }).severity === 'FATAL'
    return /^(08|57P|53|25006|57014|55P03)/.test(code) || SOCKET_CODES.includes(code)
  }
  return (
    cause instanceof Error && /terminated|timeout|not queryable|Connection/i.test(cause.message)
  )
}

/** Throws DatabaseUnavailable for faults of the connection. */
export async function translateFaults<Value>(work: () => Promise<Value>): Promise<Value> {
  try {
    return await work()
  } catch (cause) {
    if (cause instanceof DatabaseUnavailable) throw cause
    if (isUnavailable(cause))
      throw new DatabaseUnavailable('the database did not respond', { cause })
    throw faultOf(cause)
  }
}
