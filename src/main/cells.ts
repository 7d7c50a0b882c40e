import { Problem } from '#contract/problem.ts'
import type { Dependencies } from '#domain/context/context.ts'
import { registerCells } from '#domain/directory/cell_store.ts'
import {
  claimForChange,
  claimForNewAccount,
  findEmailCell,
  type TakeOver,
} from '#domain/directory/email_directory.ts'
import { isEmailFree, lockEmail } from '#domain/directory/email_store.ts'
import { requireVelocity } from '#domain/risk/velocity.ts'
import type { Cells, Runtime } from '#operations/runtime.ts'
import { ConfigError } from '#platform/settings/environment.ts'
import { requirePayableCell } from '#rails/x402/x402_settings.ts'
import { type CellDatabase, isServed, settingsOfCell } from '#settings/cell_settings.ts'
import type { Settings } from '#settings/settings.ts'
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
  const connect = more_cells.length === 0 ? null : await cellsOf(home.runtime, numbers, started)
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

function cellUnavailable(): Problem {
  const message = 'Some accounts are not available now. Try again shortly.'
  return new Problem('service_unavailable', message, { retry_after_s: 3 })
}

function cellNotServed(number: number): Problem {
  const message =
    `This node does not serve cell ${number} (FLORIN_SERVE_CELLS). ` +
    'Send the request to a node that does.'
  return new Problem('service_unavailable', message, { retry_after_s: 1 })
}

/**
 * An email names no cell in the request, so a load balancer can't choose the node by it. All emails
 * are refused alike: otherwise the response would show which ones have an account.
 */
function requireAllServed({ serve_cells }: Settings): void {
  if (serve_cells === null) return
  const message =
    `This node serves only the cells ${serve_cells.join(', ')} (FLORIN_SERVE_CELLS). ` +
    'Send the request to a node that serves all cells.'
  throw new Problem('service_unavailable', message, { retry_after_s: 1 })
}

/** Connects cell 0 to the others; returns how to connect one of them when it has started. */
async function cellsOf(
  home: Runtime,
  others: ReadonlySet<number>,
  started: ReadonlyMap<number, StartedCell>,
): Promise<(runtime: Runtime) => void> {
  const { db, clock, settings } = home
  await registerCells(db, [0, ...others])
  const served_count = [...others].filter((number) => isServed(settings, number)).length
  const at = (number: number): Runtime | undefined => {
    const isKnown = number === 0 || others.has(number)
    if (isKnown && !isServed(settings, number)) throw cellNotServed(number)
    if (number === 0) return home
    const cell = started.get(number)
    if (cell === undefined && others.has(number)) throw cellUnavailable()
    return cell?.runtime
  }
  const cells: Cells = {
    home,
    get all() {
      requireAllServed(settings)
      if (started.size < served_count) throw cellUnavailable()
      return cells.started
    },
    get started() {
      return [home, ...[...started.values()].map(({ runtime }) => runtime)]
    },
    at,
    takeOverKillSwitches: async () => {
      const followers = [...started.values()].map(({ kill_switches }) => kill_switches)
      const taken = await Promise.all(followers.map((each) => each?.takeOver()))
      requireAllServed(settings)
      return started.size === served_count && !taken.includes(false)
    },
    ofEmail: async (email) => {
      requireAllServed(settings)
      return findEmailCell(db, email)
    },
    claimForNewAccount: async (email, ip) => {
      requireAllServed(settings)
      const now = clock.now()
      const call = { settings, operation: 'create_account', caller: null, ip, now }
      return claimForNewAccount(db, {
        ...{ email, now, numbers: [0, ...started.keys()] },
        requireAllowed: (tx) => requireVelocity(tx, call),
      })
    },
  }
  const whileFree = async (email: string, number: number, takeOver: TakeOver) => {
    const cell = at(number)
    // An account that this node can't see may use it.
    if (cell === undefined) return false
    return cell.db.transaction(async (tx) => {
      await lockEmail(tx, email)
      const isFree = await isEmailFree(tx, { email, account_id: null, now: clock.now() })
      if (!isFree) return false
      return cell === home ? takeOver(tx) : db.transaction(takeOver)
    })
  }
  const connect = (runtime: Runtime): void => {
    const { cell } = runtime.settings
    runtime.cells = cells
    runtime.cellDatabases = () => (runtime === home ? cells.all.map((each) => each.db) : [])
    runtime.claimEmail = (email) =>
      claimForChange(db, { email, cell, now: clock.now() }, (number, takeOver) =>
        whileFree(email, number, takeOver),
      )
    // Cell 0 has the directory, and looks into it while it has the email locked.
    runtime.isEmailClaimed = async (email) =>
      runtime === home || (await findEmailCell(db, email)) === cell
  }
  connect(home)
  return connect
}
