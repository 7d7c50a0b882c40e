import type { Dependencies } from '#domain/context/context.ts'
import type { Runtime } from '#operations/runtime.ts'
import { ConfigError } from '#platform/settings/environment.ts'
import { requirePayableCell } from '#rails/x402/x402_settings.ts'
import { type CellDatabase, isServed, settingsOfCell } from '#settings/cell_settings.ts'
import type { Settings } from '#settings/settings.ts'
import { connectCells } from './connect_cells.ts'
import { type CellOptions, type StartedCell, startCell } from './start_cell.ts'

/** Refuses prices that some cell could not collect, before anything is started. */
export function requirePayableCells({ more_cells, x402 }: Settings): void {
  for (const { number } of more_cells) requirePayableCell(x402, number)
}

/** A server that is down when the node starts is tried again this often. */
const RETRY_MS = 3_000

type Stops = CellOptions['stops']
type SharedOptions = Pick<CellOptions, 'tracing' | 'worker' | 'pool_sizes'> & { stops: Stops }

/** The cells besides cell 0. One that is not served, or whose server is down, is not started. */
export type OtherCells = {
  started: ReadonlyMap<number, StartedCell>
  /** Includes those that have not started. */
  numbers: ReadonlySet<number>
  /** Calls back for every cell that starts later. */
  onStart(begin: (cell: StartedCell) => void): void
}

/** Starts the other cells with the parts that a node has once, and connects them all. */
export async function startOtherCells(
  settings: Settings,
  home: StartedCell,
  parts: SharedOptions,
): Promise<OtherCells> {
  const started = new Map<number, StartedCell>()
  const { more_cells } = settings
  const served = more_cells.filter(({ number }) => isServed(settings, number))
  const numbers = new Set(more_cells.map(({ number }) => number))
  const set = { home: home.runtime, numbers, started }
  const connect = more_cells.length === 0 ? null : await connectCells(set)
  let begin: (cell: StartedCell) => void = () => undefined

  const startOne = async (database: CellDatabase, stops: Stops): Promise<void> => {
    const cell = await startCell(settingsOfCell(settings, database), database.url.open(), {
      ...parts,
      stops,
      overrides: sharedWith(home.runtime),
      home: home.runtime,
    })
    requireOwnRelayer(cell.runtime, [home, ...started.values()])
    connect?.(cell.runtime)
    started.set(database.number, cell)
    begin(cell)
  }
  const missing: CellDatabase[] = []
  for (const database of served) {
    try {
      await startOne(database, parts.stops)
    } catch (cause) {
      if (cause instanceof ConfigError) throw cause
      reportMissing(home.runtime, database, cause)
      missing.push(database)
    }
  }
  if (missing.length > 0) parts.stops.push(keepStarting(home.runtime, missing, startOne))
  return {
    started,
    numbers,
    onStart: (callback) => {
      begin = callback
    },
  }
}

/** Two files may contain one key, whose nonces are counted in one database only. */
function requireOwnRelayer({ payment_context, settings }: Runtime, others: StartedCell[]): void {
  const address = payment_context?.relayer?.address
  if (address === undefined) return
  for (const { runtime } of others) {
    if (runtime.payment_context?.relayer?.address !== address) continue
    const cells = `${runtime.settings.cell} and ${settings.cell}`
    throw new ConfigError(`FLORIN_X402_CELLS: the cells ${cells} have the same relayer key.`)
  }
}

function reportMissing({ log }: Runtime, { number }: CellDatabase, cause: unknown): void {
  log.error('a cell could not be started; the others are served', { cell: number }, cause)
}

/** Starts each missing cell as soon as its server responds. Returns how to stop that. */
function keepStarting(
  home: Runtime,
  missing: CellDatabase[],
  startOne: (database: CellDatabase, stops: Stops) => Promise<void>,
): () => Promise<void> {
  const stops: Stops = []
  let running: Promise<void> = Promise.resolve()
  let isBusy = false
  const startMissing = async () => {
    for (const database of [...missing]) {
      try {
        await startOne(database, stops)
        missing.splice(missing.indexOf(database), 1)
        home.log.info('a cell was started', { cell: database.number })
      } catch (cause) {
        reportMissing(home, database, cause)
      }
    }
  }
  const cancel = home.clock.every(RETRY_MS, () => {
    if (isBusy || missing.length === 0) return
    isBusy = true
    running = startMissing().finally(() => {
      isBusy = false
    })
  })
  return async () => {
    cancel()
    await running
    for (const stop of stops.reverse()) await stop()
  }
}

/** One clock, key file, log and set of metrics for all cells of a node. */
function sharedWith(home: Runtime): Partial<Dependencies> {
  const { clock, random, keys, http, screener, blobs, log, metrics, fail } = home
  return { clock, random, keys, http, screener, blobs, log, metrics, fail }
}
