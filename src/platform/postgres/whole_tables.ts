import type { Tx } from './tx.ts'

export const quoted = (name: string): string => `"${name.replaceAll('"', '""')}"`
export const literal = (text: string): string => `'${text.replaceAll("'", "''")}'`
export const listed = (names: readonly string[]): string => names.map(quoted).join(', ')

/** Until the transaction ends, the tables can be read but not changed. */
export async function lockTables(tx: Tx, names: readonly string[]): Promise<void> {
  await tx.run(`lock table ${listed(names)} in exclusive mode`)
}

/** Append-only tables refuse TRUNCATE by a trigger, which doesn't fire for a replica. */
export async function emptyTables(session: Tx, names: readonly string[]): Promise<void> {
  if (names.length === 0) return
  await session.run('begin read write')
  await session.run('set local session_replication_role = replica')
  await session.run(`truncate ${listed(names)}`)
  await session.run('commit')
}
