import type { Socket } from 'node:net'
import type pg from 'pg'
import { copyIn } from './copy_in.ts'

export const STATEMENT_TIMEOUT_MS = 10_000
/** Longer than the server's own limit: it is for a server that cannot be heard any more. */
const ANSWER_TIMEOUT_MS = STATEMENT_TIMEOUT_MS + 2_000

/** Asks on a connection; behind a COPY go its data. */
export function sendStatement(
  client: pg.ClientBase,
  statement: pg.QueryConfig,
  data?: Buffer,
): Promise<pg.QueryResult> {
  return data === undefined
    ? client.query(Object.assign(statement, { query_timeout: ANSWER_TIMEOUT_MS }))
    : copyIn(client, statement.text, data, ANSWER_TIMEOUT_MS)
}

export const socketOf = (client: pg.ClientBase): Socket =>
  (client as unknown as { connection: { stream: Socket } }).connection.stream

/** Statements of one turn leave in one write: each write by itself would wake the server. */
export function corkUntilNextTick(client: pg.ClientBase): void {
  const wire = socketOf(client)
  if (wire.writableCorked > 0) return
  wire.cork()
  process.nextTick(() => wire.uncork())
}
