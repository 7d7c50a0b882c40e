import type { Socket } from 'node:net'
import type pg from 'pg'
import { copyIn } from './copy_in.ts'

export const STATEMENT_TIMEOUT_MS = 10_000
/** Longer than the server's own timeout: for a server that has stopped responding. */
const RESPONSE_TIMEOUT_MS = STATEMENT_TIMEOUT_MS + 2_000

/** Sends a statement; the data of a COPY follows it immediately. */
export function sendStatement(
  client: pg.ClientBase,
  statement: pg.QueryConfig,
  data?: Buffer,
): Promise<pg.QueryResult> {
  return data === undefined
    ? client.query(Object.assign(statement, { query_timeout: RESPONSE_TIMEOUT_MS }))
    : copyIn(client, statement.text, data, RESPONSE_TIMEOUT_MS)
}

export const socketOf = (client: pg.ClientBase): Socket =>
  (client as unknown as { connection: { stream: Socket } }).connection.stream

/**
 * Sends the statements of one turn of the event loop in one write, because each write wakes the
 * server's process. A batch sends all its writes in one turn; separately they cost a card message
 * 25 % more CPU (`npm run bench -- authorizations`).
 */
export function corkUntilNextTick(client: pg.ClientBase): void {
  const socket = socketOf(client)
  if (socket.writableCorked > 0) return
  socket.cork()
  process.nextTick(() => socket.uncork())
}
