import { setCellState } from '#domain/directory/cell_store.ts'
import type { RunningService } from '#main/start.ts'
import { cloneDatabase, type TestDatabase } from './database.ts'

/**
 * With FLORIN_TEST_CELLS=2 every test service has two cells. Its accounts are in cell 1, so each
 * call must find its way there; cell 0 has the directory, the operators and the OAuth clients.
 */
export const ACCOUNT_CELL = cellsOfRun() === '2' ? 1 : 0

function cellsOfRun(): string {
  const given = process.env['FLORIN_TEST_CELLS'] || '1'
  if (given === '1' || given === '2') return given
  throw new Error(`FLORIN_TEST_CELLS is "${given}"; it must be 1 or 2.`)
}

/** The environment of a service in a test about one database, whatever the run. */
export const one_cell = { FLORIN_CELLS: '[]' }

/** Cell 0 of the service whose accounts are in a database, for a restart or a second node. */
const homes = new Map<string, TestDatabase>()

/** The environment of a service whose accounts are in this database. */
export async function cellEnv(database_url: string): Promise<Record<string, string>> {
  if (ACCOUNT_CELL === 0) return { FLORIN_DATABASE_URL: database_url }
  const home = homes.get(database_url) ?? (await cloneDatabase())
  homes.set(database_url, home)
  const others = [{ number: ACCOUNT_CELL, url: database_url }]
  return { FLORIN_DATABASE_URL: home.url, FLORIN_CELLS: JSON.stringify(others) }
}

/** A new database for the accounts of a service; cell 0 is dropped with it. */
export async function openAccountCell(): Promise<TestDatabase> {
  const { url, drop } = await cloneDatabase()
  return {
    url,
    drop: async () => {
      await drop()
      await homes.get(url)?.drop()
    },
  }
}

/** The same service as its accounts' cell sees it. No other cell is open for new accounts. */
export async function inAccountCell(running: RunningService): Promise<RunningService> {
  const { cells } = running.runtime
  const runtime = cells?.at(ACCOUNT_CELL)
  if (ACCOUNT_CELL === 0 || cells === null || runtime === undefined) return running
  await setCellState(cells.home.db, 0, 'closed')
  return { ...running, runtime }
}
