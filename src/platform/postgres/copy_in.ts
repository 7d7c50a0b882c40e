import pg from 'pg'

/** Methods of pg's connection that its types leave out. */
type CopyConnection = pg.Connection & {
  sendCopyFromChunk(chunk: Buffer): void
  endCopyFrom(): void
}

type Callback = (cause: Error | null, result: pg.QueryResult) => void

/**
 * A COPY with its data sent immediately after it, which saves a round trip. The server asks for the
 * data, but it also accepts data it has not asked for yet, and discards it if the COPY fails.
 */
class CopyIn extends pg.Query {
  readonly query_timeout: number

  constructor(sql: string, data: Buffer, query_timeout: number, done: Callback) {
    super(sql, done as never)
    this.query_timeout = query_timeout
    this.submit = (connection) => {
      const copying = connection as CopyConnection
      copying.query(sql)
      copying.sendCopyFromChunk(data)
      copying.endCopyFrom()
    }
  }

  handleCopyInResponse(): void {
    // The data has been sent already.
  }
}

export function copyIn(
  client: pg.ClientBase,
  sql: string,
  data: Buffer,
  query_timeout: number,
): Promise<pg.QueryResult> {
  return new Promise((resolve, reject) => {
    const done: Callback = (cause, result) => (cause === null ? resolve(result) : reject(cause))
    client.query(new CopyIn(sql, data, query_timeout, done))
  })
}
