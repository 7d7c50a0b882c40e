import { findCellMove } from '#domain/directory/cell_move_store.ts'
import type { Tx } from '#platform/postgres/db.ts'
import { ConfigError } from '#platform/settings/environment.ts'

/** A command must not work on the copy that a move left behind, or on one that is not complete. */
export async function requireCurrent(tx: Tx, cell: number): Promise<void> {
  const state = (await findCellMove(tx))?.state
  if (state === 'moved') {
    throw new ConfigError(
      `Cell ${cell} was moved to another server. Name its new address in ` +
        `${cell === 0 ? 'FLORIN_DATABASE_URL' : 'FLORIN_CELLS'}.`,
    )
  }
  if (state === 'arriving') {
    throw new ConfigError(
      `The database configured for cell ${cell} is a copy that is not in use yet. Name the ` +
        `cell's old address until \`florin cells move ${cell}\` has switched.`,
    )
  }
}
