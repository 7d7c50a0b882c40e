import type { Clock } from '#platform/runtime/clock.ts'
import type { Random } from '#platform/runtime/random.ts'
import type { Task } from '#platform/runtime/tasks.ts'
import type { Database } from './db.ts'
import { type Lease, withLease } from './lease.ts'

type SingleNodeDependencies = { db: Database; clock: Clock; random: Random }

/** A run that ended almost an interval ago does not count: timers are not exact. */
const SLACK_MS = 60_000

/**
 * Runs the work unless another node is running it or has run it within the last interval. A node
 * does not skip runs because of its own.
 */
export function onOneNode(
  { db, clock, random }: SingleNodeDependencies,
  { task, every_ms }: { task: string; every_ms: number },
  work: (lease: Lease) => Promise<void>,
): Task['run'] {
  const node = Buffer.from(random.bytes(8)).toString('hex')
  const hasRunElsewhere = async () => {
    const since = new Date(clock.now().getTime() - every_ms + SLACK_MS)
    const rows = await db.rows(
      'select from task_runs where task = $1 and node <> $2 and finished_at > $3',
      [task, node, since],
    )
    return rows.length > 0
  }
  const record = () =>
    db.run(
      `insert into task_runs (task, node, finished_at) values ($1, $2, $3)
           on conflict (task) do update
              set node = excluded.node, finished_at = excluded.finished_at`,
      [task, node, clock.now()],
    )
  return async (stopping) => {
    await withLease(db, task, async (lease) => {
      if (await hasRunElsewhere()) return
      const check = () => {
        lease.check()
        stopping?.throwIfAborted()
      }
      await work({ ...lease, check }).finally(() => {
        // A run that a stop has ended is not recorded, so that another node takes over.
        if (stopping?.aborted !== true) return record()
      })
    })
  }
}
