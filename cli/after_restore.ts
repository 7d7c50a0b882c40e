import { prepareRestored, restoreDirectory } from '#main/after_restore.ts'
import { ConfigError } from '#platform/settings/environment.ts'
import { readSettings } from '#settings/settings.ts'
import { withCell, withDatabase, withOtherCells } from './with_database.ts'

export async function afterRestore({ cell: given }: { cell?: string }): Promise<void> {
  const cell = restoredCell(given)
  const { next_address_index, chains } = await withCell(cell, (db) => prepareRestored(db, cell))
  const lines = [
    'Withdrawals, issuing and authorizations are paused by their kill switches.',
    `New deposit addresses begin at index ${next_address_index}.`,
    ...chains.map(({ chain, block }) => `Deposits on ${chain} are read again from block ${block}.`),
  ]
  if (given === '0') {
    lines.push(`${await listOtherCells()} emails of other cells were listed again.`)
  }
  process.stdout.write(`${lines.join('\n')}\n`)
}

/** With several cells the restored one must be named: the others must not be prepared. */
function restoredCell(given: string | undefined): number {
  const { more_cells } = readSettings(process.env)
  if (more_cells.length === 0 && given === undefined) return 0
  const numbers = [0, ...more_cells.map(({ number }) => number)]
  const cell = numbers.find((number) => String(number) === given)
  if (cell !== undefined) return cell
  throw new ConfigError(`Name the restored cell: --cell ${numbers.join(' or ')}.`)
}

function listOtherCells(): Promise<number> {
  const settings = readSettings(process.env)
  return withDatabase((home) =>
    withOtherCells(settings, (dbs) => {
      const others = dbs.map((db, at) => ({ db, cell: settings.more_cells[at]?.number ?? 0 }))
      return restoreDirectory(home, others)
    }),
  )
}
