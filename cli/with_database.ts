import { requireCurrent } from '#main/cell_move/require_current.ts'
import { startEmbeddedPostgres } from '#platform/embedded_postgres/embedded_postgres.ts'
import { runningPostgresUrl } from '#platform/embedded_postgres/running.ts'
import { type Database, openDatabase } from '#platform/postgres/db.ts'
import { settingsOfCell } from '#settings/cell_settings.ts'
import { readSettings, type Settings } from '#settings/settings.ts'
import { UsageError } from './exit_codes.ts'
import { type Progress, withProgress } from './progress.ts'

const NO_TABLES =
  'This database has no tables of this version yet. Run `florin start` or `florin migrate` ' +
  'first, or name the database that you mean with FLORIN_DATABASE_URL or FLORIN_DATA_DIR.'

const UNDEFINED_TABLE = '42P01'
const isTableMissing = (cause: unknown): boolean =>
  (cause as { code?: unknown } | null)?.code === UNDEFINED_TABLE

/** Opens the configured database, or the embedded one, started here unless the service runs it. */
export async function withDatabase<Value>(
  work: (db: Database, progress: Progress) => Promise<Value>,
): Promise<Value> {
  const { database_url, data_dir } = readSettings(process.env)
  const running = database_url?.open() ?? (await runningPostgresUrl(data_dir))
  const embedded = running === null ? await startEmbeddedPostgres({ data_dir }) : null
  const db = openDatabase(running ?? embedded?.url ?? '')
  try {
    await requireCurrent(db, 0)
    return await withProgress('Working', (progress) => work(db, progress))
  } catch (cause) {
    throw isTableMissing(cause) ? new UsageError(NO_TABLES) : cause
  } finally {
    await db.close()
    await embedded?.stop()
  }
}

/** Opens the database of one cell. */
export async function withCell<Value>(
  cell: number,
  work: (db: Database) => Promise<Value>,
): Promise<Value> {
  const { more_cells } = readSettings(process.env)
  const database = more_cells.find(({ number }) => number === cell)
  if (database === undefined) return withDatabase((db) => work(db))
  const db = openDatabase(database.url.open(), { pool_size: 2 })
  try {
    return await work(db)
  } finally {
    await db.close()
  }
}

/** Opens the databases of all cells but cell 0, while work is done. */
export async function withOtherCells<Value>(
  { more_cells }: Settings,
  work: (dbs: readonly Database[]) => Promise<Value>,
): Promise<Value> {
  const dbs = more_cells.map(({ url }) => openDatabase(url.open(), { pool_size: 2 }))
  try {
    for (const [at, db] of dbs.entries()) await requireCurrent(db, more_cells[at]?.number ?? 0)
    return await work(dbs)
  } finally {
    for (const db of dbs) await db.close()
  }
}

/** Works on the database of each cell in turn, beginning with cell 0. */
export async function withEachCell<Value>(
  work: (db: Database, progress: Progress, settings: Settings) => Promise<Value>,
): Promise<{ cell: number; value: Value }[]> {
  const settings = readSettings(process.env)
  const value = await withDatabase((db, progress) => work(db, progress, settings))
  const done = [{ cell: settings.cell, value }]
  for (const database of settings.more_cells) {
    const db = openDatabase(database.url.open())
    const of_cell = settingsOfCell(settings, database)
    try {
      await requireCurrent(db, database.number)
      const value = await withProgress('Working', (progress) => work(db, progress, of_cell))
      done.push({ cell: database.number, value })
    } finally {
      await db.close()
    }
  }
  return done
}
