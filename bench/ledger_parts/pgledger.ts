import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import type pg from 'pg'

const FILES = [
  'vendor/scoville-pgsql-ulid/ulid-to-uuid.sql',
  'vendor/scoville-pgsql-ulid/uuid-to-ulid.sql',
  'pgledger.sql',
]

/** Installs pgledger from a checkout of it, with accounts in one currency. */
export async function installPgledger(
  pool: pg.Pool,
  folder: string,
  accounts: number,
): Promise<string[]> {
  for (const file of FILES) await pool.query(await readFile(join(folder, file), 'utf8'))
  const { rows } = await pool.query<{ id: string }>(
    `select (pgledger_create_account('account ' || g, 'USD')).id from generate_series(1, $1) g`,
    [accounts],
  )
  return rows.map(({ id }) => id)
}

/** One transfer between two accounts, as in its performance check. */
export async function transferByPgledger(pool: pg.Pool, from: string, to: string): Promise<void> {
  await pool.query({
    name: 'pgledger_transfer',
    text: 'select id from pgledger_create_transfer($1, $2, $3)',
    values: [from, to, '1.00'],
  })
}
