import { notFound } from '#contract/common_problems.ts'
import type { Tx } from '#platform/postgres/db.ts'
import type { SpendLimits } from '#settings/spend_limit_settings.ts'

/** Settings of one account that only operators change. */
export type AccountControls = {
  status: 'active' | 'suspended'
  rate_profile: 'default' | 'conservative' | null
  spend_limits: Partial<SpendLimits>
}

const COLUMNS = 'id, status, rate_profile, spend_limits'

export async function findControls(
  tx: Tx,
  ids: readonly string[],
): Promise<Map<string, AccountControls>> {
  const rows = await tx.rows<AccountControls & { id: string }>(
    `select ${COLUMNS} from accounts where id = any($1)`,
    [ids],
  )
  return new Map(rows.map((row) => [row.id, row]))
}

/** Does not block inserts of rows that reference the account (see lockAccount). */
export async function lockControls(tx: Tx, id: string): Promise<AccountControls> {
  const [row] = await tx.rows<AccountControls>(
    `select ${COLUMNS} from accounts where id = $1 for no key update`,
    [id],
  )
  if (row === undefined) throw notFound('account')
  return row
}

export async function updateControls(
  tx: Tx,
  id: string,
  { controls, now }: { controls: Partial<AccountControls>; now: Date },
): Promise<void> {
  const names = Object.keys(controls)
  const values = Object.values(controls).map((value) =>
    typeof value === 'object' && value !== null ? JSON.stringify(value) : value,
  )
  await tx.run(
    `update accounts set ${names.map((name, at) => `${name} = $${at + 3}, `).join('')}
            version = version + 1, updated_at = $2
      where id = $1`,
    [id, now, ...values],
  )
}
