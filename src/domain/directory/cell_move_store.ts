import { KEY_OF_NUMBER } from '#platform/postgres/advisory_key.ts'
import type { Tx } from '#platform/postgres/db.ts'
import { notify } from '#platform/postgres/notify.ts'

/** Nodes listen here: a move of their database begins its switch, or has ended it. */
export const CELL_MOVE_CHANNEL = 'cell_move'
/** The payload; a node whose notifications may be lost gets an empty one. */
export const SWITCHING = 'switching'

// Any fixed number: `florin cells move` holds this advisory lock while it switches.
const SWITCH_LOCK = 7_310_266

export type CellMove = {
  state: 'copying' | 'moved' | 'arriving' | 'arrived'
  url_sealed: string
  account_url_sealed: string | null
}

/** Undefined if the database is not being moved, or is from before there were moves. */
export async function findCellMove(tx: Tx): Promise<CellMove | undefined> {
  const [table] = await tx.rows<{ exists: boolean }>(
    `select to_regclass('cell_move') is not null as exists`,
  )
  if (!table?.exists) return undefined
  const [move] = await tx.rows<CellMove>(
    'select state, url_sealed, account_url_sealed from cell_move',
  )
  return move
}

/** Ends with the command's session, so a command that dies leaves no database waiting. */
export async function isSwitching(tx: Tx): Promise<boolean> {
  const [row] = await tx.rows<{ is_free: boolean }>(
    `select pg_try_advisory_xact_lock_shared(${KEY_OF_NUMBER}) as is_free`,
    [SWITCH_LOCK],
  )
  return row?.is_free !== true
}

/** Nodes that receive it stop using the database, until the session releases the lock. */
export async function announceSwitch(session: Tx): Promise<void> {
  await session.rows(`select pg_advisory_lock(${KEY_OF_NUMBER})`, [SWITCH_LOCK])
  await notifyNodes(session)
}

export async function notifyNodes(session: Tx): Promise<void> {
  await notify(session, CELL_MOVE_CHANNEL, SWITCHING)
}

/** Resolves when no session is switching. */
export async function waitForSwitch(tx: Tx): Promise<void> {
  await tx.rows(`select pg_advisory_xact_lock_shared(${KEY_OF_NUMBER})`, [SWITCH_LOCK])
}

export async function endSwitch(session: Tx): Promise<void> {
  await session.rows(`select pg_advisory_unlock(${KEY_OF_NUMBER})`, [SWITCH_LOCK])
}

export async function saveCellMove(
  tx: Tx,
  { state, url_sealed, account_url_sealed }: CellMove,
): Promise<void> {
  await tx.run(
    `insert into cell_move (state, url_sealed, account_url_sealed) values ($1, $2, $3)
         on conflict (is_only) do update
            set state = excluded.state, url_sealed = excluded.url_sealed,
                account_url_sealed = excluded.account_url_sealed`,
    [state, url_sealed, account_url_sealed],
  )
}

/** A commit that changes nothing: it flushes the log of everything before it. */
export async function touchCellMove(tx: Tx): Promise<void> {
  await tx.run('update cell_move set state = state')
}

export async function deleteCellMove(tx: Tx): Promise<void> {
  await tx.run('delete from cell_move')
}
