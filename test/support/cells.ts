import { after } from 'node:test'
import { runtimeOfId } from '#operations/cells.ts'
import type { Cells, Runtime } from '#operations/runtime.ts'
import { withSchema } from '#platform/postgres/schema.ts'
import { ARE_CELLS_SCHEMAS } from './account_cell.ts'
import { startAgentService } from './agent.ts'
import { type Holder, openHolder } from './cards.ts'
import { cloneDatabase } from './database.ts'
import type { TestService } from './start.ts'

export type CellsService = TestService & { cells: Cells; urls: ReadonlyMap<number, string> }

/** A service with cell 0 and these others, each in a database of its own unless the run differs. */
export async function startTestCells(
  numbers: readonly number[],
  urls: ReadonlyMap<number, string> = new Map(),
  env: Record<string, string> = {},
): Promise<CellsService> {
  if (ARE_CELLS_SCHEMAS && urls.size === 0) return startCellsInSchemas(numbers, env)
  const listed: ListedCell[] = []
  for (const number of numbers) {
    const given = urls.get(number)
    const database = given === undefined ? await cloneDatabase() : null
    if (database !== null) after(database.drop)
    listed.push({ number, url: given ?? database?.url ?? '' })
  }
  return startListed(listed, env)
}

/** A service with cell 0 and these others, all in one database. */
export async function startCellsInSchemas(
  numbers: readonly number[],
  env: Record<string, string> = {},
): Promise<CellsService> {
  const { url, drop } = await cloneDatabase()
  const listed = numbers.map((number) => ({ number, url, schema: `cell_${number}` }))
  const service = await startListed(listed, env, url)
  after(drop)
  return service
}

type ListedCell = { number: number; url: string; schema?: string }

async function startListed(
  listed: readonly ListedCell[],
  env: Record<string, string>,
  database_url?: string,
): Promise<CellsService> {
  // The tokens of apps are bound to the service's URL.
  const service = await startAgentService({
    env: { ...env, FLORIN_CELLS: JSON.stringify(listed) },
    ...(database_url !== undefined && { database_url }),
  })
  const { cells } = service.runtime
  if (cells === null) throw new Error('the service has no cells')
  const all = new Map([
    [0, service.database_url],
    ...listed.map(({ number, url, schema }) => [number, addressOf(url, schema)] as const),
  ])
  return { ...service, cells, urls: all }
}

const addressOf = (url: string, schema?: string): string =>
  schema === undefined ? url : withSchema(url, schema)

/** An account with money in the cell that the directory chose for it. */
export async function openHolderInCell(
  service: CellsService,
  usd = 0,
): Promise<Holder & { runtime: Runtime }> {
  const holder = await openHolder(service, usd)
  return { ...holder, runtime: runtimeOfId(service.runtime, holder.account_id) }
}
