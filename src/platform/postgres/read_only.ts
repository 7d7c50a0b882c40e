import type { EventEmitter } from 'node:events'
import type pg from 'pg'

const read_only = new WeakSet<object>()

type Status = { parameterName: string; parameterValue: string }

/** The server reports this setting when a connection begins, so asking costs no round trip. */
export function watchReadOnly(client: pg.ClientBase): void {
  const { connection } = client as unknown as { connection: EventEmitter }
  connection.on('parameterStatus', ({ parameterName, parameterValue }: Status) => {
    if (parameterName !== 'default_transaction_read_only') return
    if (parameterValue === 'on') read_only.add(client)
    else read_only.delete(client)
  })
}

/** The database refuses writes of this connection. */
export const isReadOnly = (client: pg.ClientBase): boolean => read_only.has(client)

const RESPONSE_TIMEOUT_MS = 3_000
const asked = new WeakSet<object>()

/** A schema shares its database with others, so its own tables say that they refuse writes. */
const SELECT_CLOSED = `select exists (
  select from pg_trigger where tgrelid = to_regclass('cell') and tgname = 'moved') as is_closed`

/** True for a new connection to a schema: the server reports nothing about it. */
export const mustAskSchema = (client: pg.ClientBase, schema: string | null): boolean =>
  schema !== null && !asked.has(client)

/** Asks once per connection; one that is open when the schema is closed gets errors from it. */
export async function askSchema(client: pg.ClientBase): Promise<void> {
  const { rows } = await client.query<{ is_closed: boolean }>({
    text: SELECT_CLOSED,
    query_timeout: RESPONSE_TIMEOUT_MS,
  } as pg.QueryConfig)
  asked.add(client)
  if (rows[0]?.is_closed === true) read_only.add(client)
}
