import { ConcurrentUpdate } from './concurrent_update.ts'
import { NOT_AS_MANY } from './statement.ts'

/** The database cannot be reached, or it is not known whether a commit took effect. */
export class DatabaseUnavailable extends Error {}

export const asError = (cause: unknown): Error =>
  cause instanceof Error ? cause : new Error(String(cause))

const codeOf = (cause: unknown) => (cause as { code?: unknown } | null)?.code

/** What it means to whoever asked: a count that is wrong is a change meanwhile. */
export const faultOf = (cause: unknown): unknown =>
  codeOf(cause) === NOT_AS_MANY
    ? new ConcurrentUpdate('what was read has changed meanwhile', { cause })
    : cause

/** The transaction had failed before this statement: never the cause of anything. */
export const isAborted = (cause: unknown): boolean => codeOf(cause) === '25P02'

/** Deadlocks and serialization failures: they left nothing behind. */
export function isRetryable(cause: unknown): boolean {
  return codeOf(cause) === '40P01' || codeOf(cause) === '40001'
}

/** The host has become a standby, or it does not answer: this connection is of no more use. */
export function isUseless(cause: unknown): boolean {
  return codeOf(cause) === '25006' || (cause as Error | null)?.message === 'Query read timeout'
}

const SOCKET_CODES = [
  'ECONNREFUSED',
  'ECONNRESET',
  'EPIPE',
  'ETIMEDOUT',
  'ENOTFOUND',
  'EHOSTUNREACH',
]

/**
 * Server codes: 08 connection, 57P shutting down, 53 out of resources, 25006 a read-only standby,
 * 57014 and 55P03 a statement or a lock that took too long.
 */
export function isUnavailable(cause: unknown): boolean {
  const code = codeOf(cause)
  if (typeof code === 'string') {
    return /^(08|57P|53|25006|57014|55P03)/.test(code) || SOCKET_CODES.includes(code)
  }
  return (
    cause instanceof Error && /terminated|timeout|not queryable|Connection/i.test(cause.message)
  )
}
