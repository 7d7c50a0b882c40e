import { readFile } from 'node:fs/promises'
import { join } from 'node:path'

/** Where PostgreSQL notes its port in its own lock file. */
const PORT_LINE = 3

/** The address of an embedded server that another process keeps; null where none is running. */
export async function runningPostgresUrl(data_dir: string): Promise<string | null> {
  try {
    const lock = await readFile(join(data_dir, 'postgres', 'postmaster.pid'), 'utf8')
    const password = (await readFile(join(data_dir, 'postgres.password'), 'utf8')).trim()
    const port = Number(lock.split('\n')[PORT_LINE])
    return `postgres://postgres:${password}@127.0.0.1:${port}/florin`
  } catch {
    return null
  }
}
