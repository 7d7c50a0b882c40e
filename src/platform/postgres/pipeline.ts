import pg from 'pg'
import { type RowShape, readRow, shapeOf } from './row_shape.ts'

/** A statement's result. */
export type StatementResult = { rows: never[]; rowCount: number | null; command: string }

type Settle = { resolve(result: StatementResult): void; reject(cause: unknown): void }

type QueuedStatement = Settle & {
  name: string | undefined
  text: string
  values: readonly (string | Buffer | null)[]
  /** The rows of a COPY. */
  data: Buffer | undefined
  /** Undefined until the server has described the rows; null if there are none. */
  shape: RowShape | null | undefined
  rows: unknown[]
  tag: string
}

/** Parts of pg that its types leave out. */
type WireConnection = pg.Connection & {
  parse(query: { name: string; text: string }): void
  bind(config: { statement: string; values: readonly unknown[] }): void
  describe(message: { type: 'P' }): void
  execute(): void
  close(message: { type: 'S'; name: string }): void
  sendCopyFromChunk(chunk: Buffer): void
  endCopyFrom(): void
}
type Callback = (cause: Error | null) => void
type PgUtils = { prepareValue(value: unknown): string | Buffer | null }

const { prepareValue } = (pg as unknown as { utils: PgUtils }).utils

/** The prepared statements of a connection, with the shape of their rows. */
const known_shapes = new WeakMap<object, Map<string, RowShape | null>>()

/**
 * Statements that are sent together and end with one Sync, as PostgreSQL's protocol intends: after
 * an error the server skips the rest, and it sends all results at the end. One statement at a time,
 * with a Sync and a row description each, costs a card message a third more CPU in both processes
 * (`npm run bench -- mixed`). Outside a transaction the statements are one transaction.
 */
export class Pipeline extends pg.Query {
  readonly query_timeout: number
  readonly #statements: QueuedStatement[] = []
  #shapes: Map<string, RowShape | null> | undefined
  #at = 0
  #is_settled = false
  /** Set by pg, which adds the timeout. */
  declare callback: Callback

  constructor(query_timeout: number) {
    super('', (() => undefined) as never)
    this.query_timeout = query_timeout
    this.submit = (connection) => this.#send(connection as WireConnection)
  }

  add({ name, text, values = [] }: pg.QueryConfig, data?: Buffer): Promise<StatementResult> {
    return new Promise((resolve, reject) => {
      const encoded = values.map((value) => prepareValue(value))
      const state = { shape: undefined, rows: [], tag: '' }
      this.#statements.push({ name, text, values: encoded, data, ...state, resolve, reject })
    })
  }

  #send(connection: WireConnection): null {
    const shapes = known_shapes.get(connection) ?? new Map<string, RowShape | null>()
    known_shapes.set(connection, shapes)
    this.#shapes = shapes
    connection.stream.cork()
    for (const statement of this.#statements) sendOne(connection, statement, shapes)
    connection.sync()
    connection.stream.uncork()
    return null
  }

  handleRowDescription({ fields }: Parameters<typeof shapeOf>[0]): void {
    const statement = this.#statements[this.#at]
    if (statement !== undefined) statement.shape = shapeOf({ fields })
  }

  handleDataRow({ fields }: { fields: (string | null)[] }): void {
    const statement = this.#statements[this.#at]
    if (statement?.shape) statement.rows.push(readRow(statement.shape, fields))
  }

  handleCommandComplete({ text }: { text: string }): void {
    const statement = this.#statements[this.#at]
    if (statement === undefined) return
    statement.tag = text
    if (statement.name !== undefined) this.#shapes?.set(statement.name, statement.shape ?? null)
    this.#at += 1
  }

  handleEmptyQuery(): void {
    this.#at += 1
  }

  handleCopyInResponse(): void {
    // The rows were sent with the statement.
  }

  handleReadyForQuery(): void {
    if (this.#is_settled) return
    this.#is_settled = true
    this.callback(null)
    for (const statement of this.#statements) statement.resolve(resultOf(statement))
  }

  /** An error after the last statement is one of the commit, so nothing was kept. */
  handleError(cause: Error): void {
    if (this.#is_settled) return
    this.#is_settled = true
    this.callback(cause)
    const kept = this.#at === this.#statements.length ? 0 : this.#at
    for (const [at, statement] of this.#statements.entries()) {
      if (at < kept) statement.resolve(resultOf(statement))
      else statement.reject(cause)
    }
  }
}

/** `close` because an earlier attempt may have been parsed and then failed. */
function sendOne(
  connection: WireConnection,
  statement: QueuedStatement,
  shapes: ReadonlyMap<string, RowShape | null>,
): void {
  const { name = '', text, values, data } = statement
  const shape = name === '' ? undefined : shapes.get(name)
  if (shape === undefined) {
    if (name !== '') connection.close({ type: 'S', name })
    connection.parse({ name, text })
  }
  connection.bind({ statement: name, values })
  if (shape === undefined) connection.describe({ type: 'P' })
  else statement.shape = shape
  connection.execute()
  if (data === undefined) return
  connection.sendCopyFromChunk(data)
  connection.endCopyFrom()
}

/** The server's tag is a command with its number of rows, if it has one: INSERT 0 5, COMMIT. */
function resultOf({ rows, tag }: QueuedStatement): StatementResult {
  const count = Number(tag.slice(tag.lastIndexOf(' ') + 1))
  const [command = ''] = tag.split(' ', 1)
  return { rows: rows as never[], rowCount: Number.isNaN(count) ? null : count, command }
}
