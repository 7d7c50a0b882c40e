import { assert } from '#kernel/assert.ts'
import type { Tx } from '#platform/postgres/db.ts'
import { notify } from '#platform/postgres/notify.ts'
import type { Rail } from './kill_switch.ts'

/** Nodes with several cells listen here in cell 0, for changes that the other cells take over. */
export const KILL_SWITCH_CHANNEL = 'kill_switches'

export type KillSwitch = {
  rail: Rail
  on: boolean
  reason: string | null
  changed_at: string | null
}

type KillSwitchRow = { rail: Rail; is_on: boolean; reason: string | null; changed_at: Date | null }

const COLUMNS = 'rail, is_on, reason, changed_at'

const view = ({ rail, is_on, reason, changed_at }: KillSwitchRow): KillSwitch => ({
  rail,
  on: is_on,
  reason,
  changed_at: changed_at?.toISOString() ?? null,
})

export async function findKillSwitches(tx: Tx): Promise<KillSwitch[]> {
  const rows = await tx.rows<KillSwitchRow>(`select ${COLUMNS} from kill_switches order by rail`)
  return rows.map(view)
}

/**
 * Later changes have later times, also from a node whose clock is behind: a cell takes over only
 * changes that are later than its own.
 */
export async function updateKillSwitch(
  tx: Tx,
  { rail, on, reason }: { rail: Rail; on: boolean; reason: string },
  now: Date,
): Promise<KillSwitch> {
  const [row] = await tx.rows<KillSwitchRow>(
    `update kill_switches
        set is_on = $2, reason = $3, is_local = false,
            changed_at = greatest($4, changed_at + interval '1 millisecond')
      where rail = $1
  returning ${COLUMNS}`,
    [rail, on, reason, now],
  )
  assert(row !== undefined, 'every rail has its switch')
  return view(row)
}

/** Pauses rails in this cell alone. */
export async function pauseRails(
  tx: Tx,
  rails: readonly Rail[],
  { reason, now }: { reason: string; now: Date },
): Promise<void> {
  await tx.run(
    `update kill_switches
        set is_on = true, reason = $2, is_local = true, changed_at = greatest($3, changed_at)
      where rail = any($1)`,
    [rails, reason, now],
  )
}

/** A switch as an operator last set it for all cells. */
export type KillSwitchChange = Omit<KillSwitchRow, 'changed_at'> & { changed_at: Date }

export function findKillSwitchChanges(tx: Tx): Promise<KillSwitchChange[]> {
  return tx.rows<KillSwitchChange>(
    `select ${COLUMNS} from kill_switches where changed_at is not null and not is_local`,
  )
}

/** Makes the changes of cell 0 in another cell, unless that has a later one. */
export async function takeOverChanges(tx: Tx, changes: readonly KillSwitchChange[]): Promise<void> {
  await tx.run(
    `update kill_switches mine
        set is_on = c.is_on, reason = c.reason, changed_at = c.changed_at, is_local = false
       from unnest($1::text[], $2::boolean[], $3::text[], $4::timestamptz[])
            as c (rail, is_on, reason, changed_at)
      where mine.rail = c.rail
        and (mine.changed_at is null or mine.changed_at < c.changed_at)`,
    [
      changes.map(({ rail }) => rail),
      changes.map(({ is_on }) => is_on),
      changes.map(({ reason }) => reason),
      changes.map(({ changed_at }) => changed_at),
    ],
  )
}

export async function notifyOtherCells(tx: Tx): Promise<void> {
  await notify(tx, KILL_SWITCH_CHANNEL, '')
}
