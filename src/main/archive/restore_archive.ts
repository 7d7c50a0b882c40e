import { join } from 'node:path'
import type { Tx } from '#platform/postgres/db.ts'
import { openSession } from '#platform/postgres/session.ts'
import { quoted } from '#platform/postgres/whole_tables.ts'
import { ConfigError } from '#platform/settings/environment.ts'
import type { Keys } from '#platform/storage/keys.ts'
import { sumRows } from './export_rows.ts'
import type { ArchiveFile } from './manifest.ts'
import { linesOf, verifyArchive } from './verify_archive.ts'

const BATCH_ROWS = 500

type RestoreInput = { folder: string; keys: Keys; to: string }

/** Loads an archive into a schema of its own, to look at. Returns the schema. */
export async function restoreArchive({ folder, keys, to }: RestoreInput): Promise<string> {
  const { manifest } = await verifyArchive(folder, keys)
  const schema = `archive_cell${manifest.cell}_${manifest.until.slice(0, 7).replace('-', '_')}`
  const session = await openSession(to)
  try {
    await session.run('begin')
    await createSchema(session, schema)
    await session.run(`set local search_path = ${quoted(schema)}`)
    for (const file of manifest.files) await restoreFile(session, folder, file)
    await session.run('commit')
    return schema
  } finally {
    await session.close()
  }
}

async function createSchema(session: Tx, schema: string): Promise<void> {
  const found = await session.rows('select from pg_namespace where nspname = $1', [schema])
  if (found.length > 0) {
    throw new ConfigError(`There is a schema ${schema} already. Drop it first.`)
  }
  await session.run(`create schema ${quoted(schema)}`)
}

async function restoreFile(session: Tx, folder: string, file: ArchiveFile): Promise<void> {
  const table = quoted(file.table)
  const columns = file.columns.map(({ name, type }) => `${quoted(name)} ${type}`)
  await session.run(`create table ${table} (${columns.join(', ')})`)
  let batch: string[] = []
  const write = async () => {
    const rows = `[${batch.join(',')}]`
    batch = []
    await session.run(
      `insert into ${table} select * from json_populate_recordset(null::${table}, $1::json)`,
      [rows],
    )
  }
  for await (const line of linesOf(join(folder, file.file))) {
    batch.push(line)
    if (batch.length === BATCH_ROWS) await write()
  }
  if (batch.length > 0) await write()
  const { rows, row_hash } = await sumRows(session, [file.table])
  if (rows === file.rows && row_hash === file.row_hash) return
  throw new Error(`the restored ${file.table} differ from the archive`)
}
