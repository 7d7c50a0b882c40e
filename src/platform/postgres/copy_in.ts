import pg from 'pg'

/** What its types leave out. */
type Copying = pg.Connection & { sendCopyFromChunk(chunk: Buffer): void; endCopyFrom(): void }

type Done = (cause: Error | null, result: pg.QueryResult) => void

/**
 * A COPY with its data right behind it. The server says when it wants them, but nobody has to wait
 * for that: where it never comes to it, it lets the data pass.
 */
class CopyIn extends pg.Query {
  readonly query_timeout: number

  constructor(sql: string, data: Buffer, query_timeout: number, done: Done) {
    super(sql, done as never)
    this.query_timeout = query_timeout
    this.submit = (connection) => {
      const copying = connection as Copying
      copying.query(sql)
      copying.sendCopyFromChunk(data)
      copying.endCopyFrom()
    }
  }

  handleCopyInResponse(): void {
    // What it asks for has been sent.
  }
}

export function copyIn(
  client: pg.ClientBase,
  sql: string,
  data: Buffer,
  query_timeout: number,
): Promise<pg.QueryResult> {
  return new Promise((resolve, reject) => {
    const done: Done = (cause, result) => (cause === null ? resolve(result) : reject(cause))
    client.query(new CopyIn(sql, data, query_timeout, done))
  })
}
