import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { findProcess } from './process_table.ts'

/** Lines of postmaster.pid. */
const PID_LINE = 0
const PORT_LINE = 3

/** The URL of an embedded server that another process runs; null if there is none. */
export async function runningPostgresUrl(data_dir: string): Promise<string | null> {
  try {
    const lock = await readFile(join(data_dir, 'postgres', 'postmaster.pid'), 'utf8')
    const lines = lock.split('\n')
    // A killed server leaves its file behind.
    if ((await findProcess(Number(lines[PID_LINE]))) === null) return null
    const password = (await readFile(join(data_dir, 'postgres.password'), 'utf8')).trim()
    return `postgres://postgres:${password}@127.0.0.1:${Number(lines[PORT_LINE])}/florin`
  } catch {
    return null
  }
}
