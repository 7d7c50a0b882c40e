import { setCellState } from '#domain/directory/cell_store.ts'
import type { RunningService } from '#main/start.ts'
import { openDatabase } from '#platform/postgres/db.ts'
import { migrate } from '#platform/postgres/migrate.ts'
import { schemaOf, withSchema } from '#platform/postgres/schema.ts'
import { cloneDatabase, sharedTemplate, type TestDatabase } from './database.ts'

/**
 * With FLORIN_TEST_CELLS=2 every test service has two cells. Its accounts are in cell 1, so each
 * call must find its way there; cell 0 has the directory, the operators and the OAuth clients. With
 * FLORIN_TEST_CELLS=schemas, both are in one database, and cell 1 is a schema of it.
 */
const cells_of_run = cellsOfRun()
export const ACCOUNT_CELL = cells_of_run === '1' ? 0 : 1
export const ARE_CELLS_SCHEMAS = cells_of_run === 'schemas'

function cellsOfRun(): '1' | '2' | 'schemas' {
  const given = process.env['FLORIN_TEST_CELLS'] || '1'
  if (given === '1' || given === '2' || given === 'schemas') return given
  throw new Error(`FLORIN_TEST_CELLS is "${given}"; it must be 1, 2 or schemas.`)
}

/** The environment of a service in a test about one database, whatever the run. */
export const one_cell = { FLORIN_CELLS: '[]' }

/** Cell 0 of the service whose accounts are in a database, for a restart or a second node. */
const homes = new Map<string, TestDatabase>()

/** The environment of a service whose accounts are in this database, or in a schema of it. */
export async function cellEnv(database_url: string): Promise<Record<string, string>> {
  if (ACCOUNT_CELL === 0) return { FLORIN_DATABASE_URL: database_url }
  const others = [{ number: ACCOUNT_CELL, url: database_url }]
  const home_url = await homeUrl(database_url)
  return { FLORIN_DATABASE_URL: home_url, FLORIN_CELLS: JSON.stringify(others) }
}

async function homeUrl(database_url: string): Promise<string> {
  const [shared = ''] = database_url.split('?')
  if (schemaOf(database_url) !== null) return shared
  const home = homes.get(database_url) ?? (await cloneDatabase())
  homes.set(database_url, home)
  return home.url
}

/** A new database for the accounts of a service; cell 0 is dropped with it. */
export async function openAccountCell(): Promise<TestDatabase> {
  if (ARE_CELLS_SCHEMAS) return openAccountSchema()
  const { url, drop } = await cloneDatabase()
  return {
    url,
    drop: async () => {
      await drop()
      await homes.get(url)?.drop()
    },
  }
}

const SCHEMA = `cell_${ACCOUNT_CELL}`

async function openAccountSchema(): Promise<TestDatabase> {
  const template = await sharedTemplate('florin_template_schemas', async (url) => {
    const db = openDatabase(withSchema(url, SCHEMA), { pool_size: 1 })
    await migrate(db)
    await db.close()
  })
  const { url, drop } = await cloneDatabase(template)
  return { url: withSchema(url, SCHEMA), drop }
}

/** The same service as its accounts' cell sees it. No other cell is open for new accounts. */
export async function inAccountCell(running: RunningService): Promise<RunningService> {
  const { cells } = running.runtime
  const runtime = cells?.at(ACCOUNT_CELL)
  if (ACCOUNT_CELL === 0 || cells === null || runtime === undefined) return running
  await setCellState(cells.home.db, 0, 'closed')
  return { ...running, runtime }
}
