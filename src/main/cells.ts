import { findAccountByEmail } from '#domain/accounts/account_store.ts'
import type { Dependencies } from '#domain/context/context.ts'
import { registerCells } from '#domain/directory/cell_store.ts'
import {
  claimForChange,
  claimForNewAccount,
  findEmailCell,
} from '#domain/directory/email_directory.ts'
import type { Cells, Runtime } from '#operations/runtime.ts'
import { ConfigError } from '#platform/settings/environment.ts'
import { settingsOfCell } from '#settings/cell_settings.ts'
import type { Settings } from '#settings/settings.ts'
import { type CellParts, type StartedCell, startCell } from './start_cell.ts'

/** Refuses settings of which cells would share more than they can yet. */
export function requireSharable({ mode, more_cells, x402 }: Settings): void {
  if (more_cells.length === 0) return
  if (mode === 'live') {
    const reason = 'all cells would pay withdrawals from one hot wallet'
    throw new ConfigError(`FLORIN_CELLS can't be used in live mode yet: ${reason}.`)
  }
  if (x402.prices.size > 0) {
    throw new ConfigError("FLORIN_PAID_OPERATIONS can't be used with several cells yet.")
  }
}

/** Starts the other cells with the parts that a node has once, and connects them all. */
export async function startOtherCells(
  settings: Settings,
  home: StartedCell,
  parts: Omit<CellParts, 'home' | 'overrides'>,
): Promise<Map<number, StartedCell>> {
  const others = new Map<number, StartedCell>()
  for (const database of settings.more_cells) {
    const own_settings = settingsOfCell(settings, database)
    const overrides = sharedWith(home.runtime)
    const started = await startCell(own_settings, database.url.open(), {
      ...parts,
      overrides,
      home: home.runtime,
    })
    others.set(database.number, started)
  }
  if (others.size > 0) await connectCells(home.runtime, others)
  return others
}

/** One clock, key file, log and set of metrics for all cells of a node. */
function sharedWith(home: Runtime): Partial<Dependencies> {
  const { clock, random, keys, http, screener, blobs, log, metrics, fail } = home
  return { clock, random, keys, http, screener, blobs, log, metrics, fail }
}

async function connectCells(
  home: Runtime,
  others: ReadonlyMap<number, StartedCell>,
): Promise<void> {
  const { db, clock } = home
  const all = [home, ...[...others.values()].map(({ runtime }) => runtime)]
  const numbers = [0, ...others.keys()]
  await registerCells(db, numbers)
  const at = (number: number) => (number === 0 ? home : others.get(number)?.runtime)
  const cells: Cells = {
    home,
    all,
    at,
    ofEmail: (email) => findEmailCell(db, email),
    claimForNewAccount: (email) => claimForNewAccount(db, { email, now: clock.now() }, numbers),
  }
  const isUsed = async (email: string, number: number) => {
    const cell = at(number)
    // An account that this node can't see may use it.
    return cell === undefined || (await findAccountByEmail(cell.db, email)) !== undefined
  }
  for (const runtime of all) {
    runtime.cells = cells
    const { cell } = runtime.settings
    runtime.claimEmail = (email) =>
      claimForChange(db, { email, cell, now: clock.now() }, (number) => isUsed(email, number))
  }
}
