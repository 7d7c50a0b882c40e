import { Problem } from '#contract/problem.ts'
import type { Caller } from '#domain/context/context.ts'
import type { Database, Tx } from '#platform/postgres/db.ts'
import type { Clock } from '#platform/runtime/clock.ts'
import type { Task } from '#platform/runtime/tasks.ts'
import type { Settings } from '#settings/settings.ts'
import { networkOf } from './rate_limit.ts'

type CountedCall = {
  settings: Settings
  operation: string
  caller: Caller | null
  ip: string
  now: Date
}

const DAY_MS = 24 * 3_600_000

/**
 * Enforces the daily limits of an operation. The count is part of the transaction, so a failed call
 * does not count, and it is the first row that the transaction locks.
 */
export async function requireVelocity(tx: Tx, call: CountedCall): Promise<void> {
  const limits = call.settings.risk.velocity[call.operation]
  if (limits === undefined) return
  const { account_per_day, ip_per_day } = limits
  if (call.caller !== null && account_per_day !== undefined) {
    await countCall(tx, call, { subject: call.caller.account_id, limit: account_per_day })
  }
  if (ip_per_day !== undefined) {
    await countCall(tx, call, { subject: `ip|${networkOf(call.ip)}`, limit: ip_per_day })
  }
}

async function countCall(
  tx: Tx,
  { operation, now }: CountedCall,
  { subject, limit }: { subject: string; limit: number },
): Promise<void> {
  const [row] = await tx.rows<{ count: number }>(
    `insert into velocities as v (subject, operation, day, count)
     values ($1, $2, ($3::timestamptz at time zone 'UTC')::date, 1)
         on conflict (subject, operation, day) do update set count = v.count + 1
  returning count`,
    [subject, operation, now],
  )
  if ((row?.count ?? 0) <= limit) return
  throw new Problem('rate_limited', `${operation} is limited to ${limit} times a day.`, {
    retry_after_s: Math.ceil((DAY_MS - (now.getTime() % DAY_MS)) / 1_000),
  })
}

export function sweepVelocitiesTask({ db, clock }: { db: Database; clock: Clock }): Task {
  return {
    name: 'sweep_velocities',
    every_ms: 3_600_000,
    run: async () => {
      const before = new Date(clock.now().getTime() - 2 * DAY_MS)
      await db.run('delete from velocities where day < $1::timestamptz::date', [before])
    },
  }
}
