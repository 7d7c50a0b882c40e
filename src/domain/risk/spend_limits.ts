import type { Tx } from '#platform/postgres/db.ts'
import type { Settings } from '#settings/settings.ts'
import type { SpendLimits } from '#settings/spend_limit_settings.ts'

/** The default limits, overridden by those set for this account. */
export async function spendLimitsOf(
  tx: Tx,
  account_id: string,
  settings: Settings,
): Promise<SpendLimits> {
  const [row] = await tx.rows<{ spend_limits: Partial<SpendLimits> }>(
    'select spend_limits from accounts where id = $1',
    [account_id],
  )
  return { ...settings.spend_limits, ...row?.spend_limits }
}
