import { Problem } from '#contract/problem.ts'
import type { Caller } from '#domain/context/context.ts'
import type { Database, Tx } from '#platform/postgres/db.ts'
import type { Clock } from '#platform/runtime/clock.ts'
import type { Task } from '#platform/runtime/tasks.ts'
import type { Settings } from '#settings/settings.ts'
import { networkOf } from './rate_limit.ts'

export type CountedCall = {
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
    await countCall(tx, call, { subject: subjectOf(call.ip), limit: ip_per_day })
  }
}

async function countCall(
  tx: Tx,
  call: CountedCall,
  { subject, limit }: { subject: string; limit: number },
): Promise<void> {
  const [row] = await tx.rows<{ count: number }>(
    `insert into velocities as v (subject, operation, day, count)
     values ($1, $2, ($3::timestamptz at time zone 'UTC')::date, 1)
         on conflict (subject, operation, day) do update set count = v.count + 1
  returning count`,
    [subject, call.operation, call.now],
  )
  if ((row?.count ?? 0) <= limit) return
  throw limitReached(call, limit)
}

/** Counts a call of an address, in the database that counts for all cells. */
export function countAddress(db: Database, call: CountedCall): Promise<void> {
  return db.transaction((tx) => requireVelocity(tx, { ...call, caller: null }))
}

/** A counted call has failed after all. */
export async function uncountAddress(db: Tx, { operation, ip, now }: CountedCall): Promise<void> {
  await db.run(
    `update velocities set count = count - 1
      where subject = $1 and operation = $2
        and day = ($3::timestamptz at time zone 'UTC')::date and count > 0`,
    [subjectOf(ip), operation, now],
  )
}

/** Refuses what countAddress would refuse, and counts nothing. */
export async function requireAddressAllowed(db: Tx, call: CountedCall): Promise<void> {
  const { settings, operation, ip, now } = call
  const limit = settings.risk.velocity[operation]?.ip_per_day
  const [row] = await db.rows<{ count: number }>(
    `select count from velocities
      where subject = $1 and operation = $2 and day = ($3::timestamptz at time zone 'UTC')::date`,
    [subjectOf(ip), operation, now],
  )
  if (limit !== undefined && (row?.count ?? 0) >= limit) throw limitReached(call, limit)
}

const subjectOf = (ip: string): string => `ip|${networkOf(ip)}`

function limitReached({ operation, now }: CountedCall, limit: number): Problem {
  return new Problem('rate_limited', `${operation} is limited to ${limit} times a day.`, {
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
