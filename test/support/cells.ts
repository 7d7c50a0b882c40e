import { after } from 'node:test'
import { runtimeOfId } from '#operations/cells.ts'
import type { Cells, Runtime } from '#operations/runtime.ts'
import { startAgentService } from './agent.ts'
import { type Holder, openHolder } from './cards.ts'
import { cloneDatabase } from './database.ts'
import type { TestService } from './start.ts'

export type CellsService = TestService & { cells: Cells; urls: ReadonlyMap<number, string> }

/** A service with cell 0 and these others, each in a database of its own. */
export async function startTestCells(
  numbers: readonly number[],
  urls: ReadonlyMap<number, string> = new Map(),
  env: Record<string, string> = {},
): Promise<CellsService> {
  const listed: { number: number; url: string }[] = []
  for (const number of numbers) {
    const given = urls.get(number)
    const database = given === undefined ? await cloneDatabase() : null
    if (database !== null) after(database.drop)
    listed.push({ number, url: given ?? database?.url ?? '' })
  }
  // The tokens of apps are bound to the service's URL.
  const service = await startAgentService({ env: { ...env, FLORIN_CELLS: JSON.stringify(listed) } })
  const { cells } = service.runtime
  if (cells === null) throw new Error('the service has no cells')
  const all = new Map([
    [0, service.database_url],
    ...listed.map(({ number, url }) => [number, url] as const),
  ])
  return { ...service, cells, urls: all }
}

/** An account with money in the cell that the directory chose for it. */
export async function openHolderInCell(
  service: CellsService,
  usd = 0,
): Promise<Holder & { runtime: Runtime }> {
  const holder = await openHolder(service, usd)
  return { ...holder, runtime: runtimeOfId(service.runtime, holder.account_id) }
}
