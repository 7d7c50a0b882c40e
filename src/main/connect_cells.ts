import { Problem } from '#contract/problem.ts'
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
import { isServed } from '#settings/cell_settings.ts'
import type { Settings } from '#settings/settings.ts'
import type { StartedCell } from './start_cell.ts'

/** Cell 0, the numbers of the others, and those of them that have started, now or later. */
type CellSet = {
  home: Runtime
  numbers: ReadonlySet<number>
  started: ReadonlyMap<number, StartedCell>
}

/** Connects cell 0 to the others; returns how to connect one of them when it has started. */
export async function connectCells(set: CellSet): Promise<(runtime: Runtime) => void> {
  const { home, numbers } = set
  await registerCells(home.db, [0, ...numbers])
  const cells = makeCells(set)
  const connect = (runtime: Runtime) => connectTo(cells, runtime)
  connect(home)
  return connect
}

function makeCells({ home, numbers, started }: CellSet): Cells {
  const { db, clock, settings } = home
  const served_count = [...numbers].filter((number) => isServed(settings, number)).length
  return {
    home,
    get all() {
      requireAllServed(settings)
      if (started.size < served_count) throw cellUnavailable()
      return this.started
    },
    get started() {
      return [home, ...[...started.values()].map(({ runtime }) => runtime)]
    },
    at: (number) => {
      const isKnown = number === 0 || numbers.has(number)
      if (isKnown && !isServed(settings, number)) throw cellNotServed(number)
      if (number === 0) return home
      const cell = started.get(number)
      if (cell === undefined && isKnown) throw cellUnavailable()
      return cell?.runtime
    },
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
        email,
        now,
        numbers: [0, ...started.keys()],
        requireAllowed: (tx) => requireVelocity(tx, call),
      })
    },
  }
}

/** Shows a runtime the other cells and the directory of emails, which is in cell 0. */
function connectTo(cells: Cells, runtime: Runtime): void {
  const { home } = cells
  const { db, clock } = home
  const { cell } = runtime.settings
  runtime.cells = cells
  runtime.cellDatabases = () => (runtime === home ? cells.all.map((each) => each.db) : [])
  runtime.claimEmail = (email) =>
    claimForChange(db, { email, cell, now: clock.now() }, (number, takeOver) =>
      takeOverIfFree(cells, { email, number }, takeOver),
    )
  // Cell 0 has the directory, and looks into it while it has the email locked.
  runtime.isEmailClaimed = async (email) =>
    runtime === home || (await findEmailCell(db, email)) === cell
}

/** Takes an email over from the cell that the directory lists, unless an account there needs it. */
async function takeOverIfFree(
  { home, at }: Cells,
  { email, number }: { email: string; number: number },
  takeOver: TakeOver,
): Promise<boolean> {
  const cell = at(number)
  // An account that this node can't see may use it.
  if (cell === undefined) return false
  return cell.db.transaction(async (tx) => {
    await lockEmail(tx, email)
    const isFree = await isEmailFree(tx, { email, account_id: null, now: home.clock.now() })
    if (!isFree) return false
    return cell === home ? takeOver(tx) : home.db.transaction(takeOver)
  })
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
