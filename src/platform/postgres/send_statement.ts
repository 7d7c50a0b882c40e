import type { Socket } from 'node:net'
import type pg from 'pg'
import { Pipeline, type StatementResult } from './pipeline.ts'

export const STATEMENT_TIMEOUT_MS = 10_000
/** Longer than the server's own timeout: for a server that has stopped responding. */
const RESPONSE_TIMEOUT_MS = STATEMENT_TIMEOUT_MS + 2_000

const pipelines = new WeakMap<pg.ClientBase, Pipeline>()

/** Sends a statement with all others of this turn of the event loop; rows are those of a COPY. */
export function sendStatement(
  client: pg.ClientBase,
  statement: pg.QueryConfig,
  rows?: Buffer,
  timeout_ms = RESPONSE_TIMEOUT_MS,
): Promise<StatementResult> {
  let pipeline = pipelines.get(client)
  if (pipeline === undefined) {
    pipeline = new Pipeline(timeout_ms)
    pipelines.set(client, pipeline)
    process.nextTick(() => sendPipeline(client))
  }
  return pipeline.add(statement, rows)
}

/** Sends what waits for the end of the turn. */
export function sendPipeline(client: pg.ClientBase): void {
  const pipeline = pipelines.get(client)
  if (pipeline === undefined) return
  pipelines.delete(client)
  client.query(pipeline)
}

/** Sends a statement without others and without a timeout, as some commands require. */
export function sendAlone(
  client: pg.ClientBase,
  statement: pg.QueryConfig,
  rows?: Buffer,
): Promise<StatementResult> {
  const pipeline = new Pipeline(0)
  const result = pipeline.add(statement, rows)
  client.query(pipeline)
  return result
}

export const socketOf = (client: pg.ClientBase): Socket =>
  (client as unknown as { connection: { stream: Socket } }).connection.stream
