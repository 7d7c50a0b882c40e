import type { Transport } from '#test/simulation/clients/transport.ts'
import { eventually } from '#test/support/eventually.ts'

const MOVED_MS = 90_000

/** Work that must move on by itself, and how to count what is left of it. */
const queues: readonly (readonly [name: string, sql: string])[] = [
  [
    'withdrawals',
    `select count(*) as left from withdrawals w join accounts a on a.id = w.account_id
      where a.status = 'active' and w.step in ('reserved', 'signed')`,
  ],
  ['deposits', `select count(*) as left from topups where status = 'confirming'`],
]

/** Mines blocks until all withdrawals and deposits have ended. */
export async function checkNothingStuck({ world, monitor }: Transport): Promise<void> {
  for (const [name, sql] of queues) {
    let left = 0
    const isEmpty = await eventually(
      async () => {
        const [row] = await world.postgres.query(sql)
        left = Number(row?.['left'] ?? 0)
        if (left === 0) return true
        await world.chain.mine(5)
        await new Promise((resolve) => setTimeout(resolve, 500))
        return false
      },
      { within_ms: MOVED_MS },
    )
    if (!isEmpty) monitor.violate('something is stuck', `${left} ${name}`)
  }
}

const SKEW_MS = 5_000
const EXPIRED_MS = 60_000

/** Waits until the holds that are older than seven days have expired. */
export async function checkHoldsExpired({ world, monitor }: Transport, now: number): Promise<void> {
  const isDone = async () => {
    const due = await world.postgres.query(
      'select id from transactions where open_micros > 0 and expires_at <= $1 limit 1',
      [new Date(now - SKEW_MS)],
    )
    return due.length === 0
  }
  if (await eventually(isDone, { within_ms: EXPIRED_MS })) return
  monitor.violate('something is stuck', 'holds that are older than seven days')
}
