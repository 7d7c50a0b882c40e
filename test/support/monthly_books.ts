import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { addPartitions, PARTITIONED_TABLES } from '#domain/archive/partitions.ts'
import type { ArchiveInput } from '#main/archive/create_archive.ts'
import { type Database, openDatabase } from '#platform/postgres/db.ts'
import { openSession, type Session } from '#platform/postgres/session.ts'
import { systemRandom } from '#platform/runtime/random.ts'
import { type Keys, loadKeys } from '#platform/storage/keys.ts'
import { cloneDatabase, sharedTemplate } from './database.ts'
import { writeAccounts, writePurchases } from './old_purchases.ts'

export const MONTHS_END = new Date('2027-06-20T00:00:00Z')

/** A partition per month up to a day, as the task adds them. */
export async function addMonths(db: Database, until: Date): Promise<void> {
  const [row] = await db.rows<{ at: Date }>(
    `select id_month(lower_id) at time zone 'UTC' as at
       from partitions_of('events') where upper_id is null`,
  )
  for (let at = row?.at ?? until; at < until; ) {
    for (const table of PARTITIONED_TABLES) await addPartitions(db, table, at)
    at = new Date(Date.UTC(at.getUTCFullYear(), at.getUTCMonth() + 1))
  }
}

/** Three accounts with 300 purchases from November 2026 to June 2027, in a partition per month. */
const monthlyBooks = (): Promise<string> =>
  sharedTemplate('monthly_books', async (url) => {
    const db = openDatabase(url, { pool_size: 1 })
    await addMonths(db, MONTHS_END).finally(db.close)
    await writeAccounts(url, 3, '2026-11-01')
    await writePurchases(url, { accounts: 3, from: '2026-11-02', count: 300, every: '18 hours' })
  })

export type ArchiveBooks = {
  url: string
  db: Database
  session: Session
  keys: Keys
  folder: string
  input: Omit<ArchiveInput, 'session'>
}

/** Books to archive until March 2027, and an empty folder for the files. */
export async function withMonthlyBooks(
  work: (books: ArchiveBooks) => Promise<void>,
): Promise<void> {
  const clone = await cloneDatabase(await monthlyBooks())
  const home = await mkdtemp(join(tmpdir(), 'florin_archive_'))
  const db = openDatabase(clone.url, { pool_size: 3 })
  const session = await openSession(clone.url)
  const keys = await loadKeys(join(home, 'keys.json'), systemRandom)
  const folder = join(home, 'archives')
  const before = new Date('2027-03-15T00:00:00Z')
  const input = { keys, cell: 0, to: folder, before, now: MONTHS_END, report: () => undefined }
  try {
    await work({ url: clone.url, db, session, keys, folder, input })
  } finally {
    await session.close()
    await db.close()
    await clone.drop()
    await rm(home, { recursive: true })
  }
}
