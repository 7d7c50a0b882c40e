import { assert } from '#kernel/assert.ts'
import type { Tx } from '#platform/postgres/db.ts'
import type { Rail } from './kill_switch.ts'

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

export async function updateKillSwitch(
  tx: Tx,
  { rail, on, reason }: { rail: Rail; on: boolean; reason: string },
  now: Date,
): Promise<KillSwitch> {
  const [row] = await tx.rows<KillSwitchRow>(
    `update kill_switches set is_on = $2, reason = $3, changed_at = $4 where rail = $1
  returning ${COLUMNS}`,
    [rail, on, reason, now],
  )
  assert(row !== undefined, 'every rail has its switch')
  return view(row)
}

export async function pauseRails(
  tx: Tx,
  rails: readonly Rail[],
  { reason, now }: { reason: string; now: Date },
): Promise<void> {
  await tx.run(
    'update kill_switches set is_on = true, reason = $2, changed_at = $3 where rail = any($1)',
    [rails, reason, now],
  )
}
