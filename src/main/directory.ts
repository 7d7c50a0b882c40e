import { registerCells, setCellState } from '#domain/directory/cell_store.ts'
import type { Database } from '#platform/postgres/db.ts'
import { ConfigError } from '#platform/settings/environment.ts'
import type { Settings } from '#settings/settings.ts'

export { type DirectoryCell, listCells } from '#domain/directory/cell_store.ts'

/** Registers the cells of the settings, as a start does; those that are known stay as they are. */
export async function addCells(db: Database, { more_cells }: Settings): Promise<void> {
  await registerCells(db, [0, ...more_cells.map(({ number }) => number)])
}

/** A closed cell keeps its accounts and gets no new ones. */
export async function changeCell(
  db: Database,
  text: string,
  state: 'open' | 'closed',
): Promise<void> {
  if (/^\d{1,3}$/.test(text) && (await setCellState(db, Number(text), state))) return
  throw new ConfigError(`There is no cell ${text}. Run \`florin cells list\`.`)
}
