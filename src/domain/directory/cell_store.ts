import type { Tx } from '#platform/postgres/db.ts'

/** Records the number of a new database. Returns the number that the database has. */
export async function claimDatabase(tx: Tx, number: number): Promise<number> {
  await tx.run('insert into cell (number) values ($1) on conflict do nothing', [number])
  const [row] = await tx.rows<{ number: number }>('select number from cell')
  return row?.number ?? number
}

/** False for a database that no node has started on. */
export async function isClaimed(tx: Tx): Promise<boolean> {
  return (await tx.rows('select from cell')).length > 0
}

export type DirectoryCell = { number: number; state: 'open' | 'closed'; accounts: bigint }

/** Cell 0 begins with the accounts it has; the others are new. */
export async function registerCells(tx: Tx, numbers: readonly number[]): Promise<void> {
  await tx.run(
    `insert into directory_cells (number, accounts)
     select number, case number when 0 then (select count(*) from accounts) else 0 end
       from unnest($1::integer[]) as listed (number)
         on conflict do nothing`,
    [numbers],
  )
}

export function listCells(tx: Tx): Promise<DirectoryCell[]> {
  return tx.rows<DirectoryCell>(
    'select number, state, accounts from directory_cells order by number',
  )
}

/** Returns false if there is no such cell. */
export async function setCellState(
  tx: Tx,
  number: number,
  state: DirectoryCell['state'],
): Promise<boolean> {
  const changed = await tx.run('update directory_cells set state = $2 where number = $1', [
    number,
    state,
  ])
  return changed === 1
}

/** Counts a new account in the open cell with the fewest; undefined if no cell is open. */
export async function takeEmptiestCell(
  tx: Tx,
  numbers: readonly number[],
): Promise<number | undefined> {
  const [row] = await tx.rows<{ number: number }>(
    `update directory_cells set accounts = accounts + 1
      where number = (select number from directory_cells
                       where state = 'open' and number = any($1)
                       order by accounts, number limit 1)
  returning number`,
    [numbers],
  )
  return row?.number
}
