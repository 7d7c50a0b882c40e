import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import type pg from 'pg'

const FILES = [
  'vendor/scoville-pgsql-ulid/ulid-to-uuid.sql',
  'vendor/scoville-pgsql-ulid/uuid-to-ulid.sql',
  'pgledger.sql',
]

/** Installs pgledger from a checkout of it, with accounts in one currency. */
async function installPgledger(pool: pg.Pool, folder: string, accounts: number): Promise<string[]> {
  for (const file of FILES) await pool.query(await readFile(join(folder, file), 'utf8'))
  const { rows } = await pool.query<{ id: string }>(
    `select (pgledger_create_account('account ' || g, 'USD')).id from generate_series(1, $1) g`,
    [accounts],
  )
  return rows.map(({ id }) => id)
}

/** One transfer between two accounts, as in its performance check. */
async function transferByPgledger(pool: pg.Pool, from: string, to: string): Promise<void> {
  await pool.query({
    name: 'pgledger_transfer',
    text: 'select id from pgledger_create_transfer($1, $2, $3)',
    values: [from, to, '1.00'],
  })
}

type RateOptions = { accounts: number; clients: number }

/** Prepares random transfers of the checkout in PGLEDGER_DIR; null without the setting. */
export async function preparePgledger(pool: pg.Pool, { accounts, clients }: RateOptions) {
  const folder = process.env['PGLEDGER_DIR']
  if (folder === undefined) return null
  const ids = await installPgledger(pool, folder, accounts)
  const random = (below: number) => Math.floor(Math.random() * below)
  const transfer = () => {
    const from = random(accounts)
    const to = (from + 1 + random(accounts - 1)) % accounts
    return transferByPgledger(pool, ids[from] ?? '', ids[to] ?? '')
  }
  return {
    transfer,
    /** Transfers per second of all clients. */
    measure: async (seconds: number): Promise<number> => {
      const until = performance.now() + seconds * 1_000
      let count = 0
      const work = async () => {
        for (; performance.now() < until; count += 1) await transfer()
      }
      await Promise.all(Array.from({ length: clients }, work))
      return count / seconds
    },
  }
}
