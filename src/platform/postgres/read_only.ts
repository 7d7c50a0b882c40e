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
