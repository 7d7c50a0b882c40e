import { addCells, changeCell, type DirectoryCell, listCells } from '#main/directory.ts'
import { migrate } from '#platform/postgres/migrate.ts'
import { readSettings } from '#settings/settings.ts'
import { withDatabase } from './with_database.ts'

/** The directory is in the database of cell 0. */
export async function cellsList({ json }: { json?: boolean }): Promise<void> {
  const cells = await withDatabase((db) => listCells(db))
  const rows = cells.map(({ number, state, accounts }) => ({
    number,
    state,
    accounts: Number(accounts),
  }))
  const text = json ? JSON.stringify(rows) : cells.map(formatCell).join('\n') || none()
  process.stdout.write(`${text}\n`)
}

/** Cells are registered when the first node starts with them. */
const none = (): string =>
  readSettings(process.env).more_cells.length === 0
    ? 'All accounts are in one database. FLORIN_CELLS adds more.'
    : 'All accounts are in one database. `florin cells add` adds those of FLORIN_CELLS.'

const formatCell = ({ number, state, accounts }: DirectoryCell): string =>
  `${String(number).padStart(3)}  ${state.padEnd(6)}  ${accounts} accounts`

export async function cellsAdd(): Promise<void> {
  const settings = readSettings(process.env)
  await withDatabase(async (db) => {
    await migrate(db)
    await addCells(db, settings)
  })
  await cellsList({})
}

export async function cellsChange(number: string, state: 'open' | 'closed'): Promise<void> {
  await withDatabase((db) => changeCell(db, number, state))
  process.stdout.write(`Cell ${number} is ${state}.\n`)
}
