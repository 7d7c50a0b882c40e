import { Problem } from '#contract/problem.ts'
import type { Caller, Dependencies } from '#domain/context/context.ts'
import type { Tx } from '#platform/postgres/db.ts'
import type { Task } from '#platform/runtime/tasks.ts'
import type { Settings } from '#settings/settings.ts'
import { networkOf } from './rate_limit.ts'

type Counted = {
  settings: Settings
  operation: string
  caller: Caller | null
  ip: string
  now: Date
}

const DAY_MS = 24 * 3_600_000

/**
 * Counts what the operator limits by the day. It is counted in the transaction of the change, so
 * that what fails does not count; the count is the first row it locks.
 */
export async function requireVelocity(tx: Tx, counted: Counted): Promise<void> {
  const bounds = counted.settings.risk.velocity[counted.operation]
  if (bounds === undefined) return
  const { account_per_day, ip_per_day } = bounds
  if (counted.caller !== null && account_per_day !== undefined) {
    await count(tx, counted, { subject: counted.caller.account_id, most: account_per_day })
  }
  if (ip_per_day !== undefined) {
    await count(tx, counted, { subject: `ip|${networkOf(counted.ip)}`, most: ip_per_day })
  }
}

async function count(
  tx: Tx,
  { operation, now }: Counted,
  { subject, most }: { subject: string; most: number },
): Promise<void> {
  const [row] = await tx.rows<{ count: number }>(
    `insert into velocities as v (subject, operation, day, count)
     values ($1, $2, ($3::timestamptz at time zone 'UTC')::date, 1)
         on conflict (subject, operation, day) do update set count = v.count + 1
  returning count`,
    [subject, operation, now],
  )
  if ((row?.count ?? 0) <= most) return
  throw new Problem('rate_limited', `${operation} is limited to ${most} times a day.`, {
    retry_after_s: Math.ceil((DAY_MS - (now.getTime() % DAY_MS)) / 1_000),
  })
}

export function sweepVelocitiesTask({ db, clock }: Pick<Dependencies, 'db' | 'clock'>): Task {
  return {
    name: 'sweep_velocities',
    every_ms: 3_600_000,
    run: async () => {
      const before = new Date(clock.now().getTime() - 2 * DAY_MS)
      await db.run('delete from velocities where day < $1::timestamptz::date', [before])
    },
  }
}
