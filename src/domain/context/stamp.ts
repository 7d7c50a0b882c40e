import { type IdPrefix, idTimeMs } from '#kernel/id.ts'
import type { Dependencies } from './context.ts'

export type RowStamp = { id: string; created_at: Date }

/** A clock that is further ahead is wrong, and its account's later rows don't follow it. */
const CLOCK_DIFFERENCE_MAX_MS = 60_000

/**
 * Returns a function that makes an id and its timestamp. It is called under the lock of the
 * account's sequence row, so ids of one account are in commit order. If the node that made the id
 * `after` has a clock ahead of ours, the new row gets the next millisecond of that clock.
 */
export function makeStamp(
  { clock, newId }: { clock: Dependencies['clock']; newId: Dependencies['newId'] },
  prefix: IdPrefix,
): (after?: string) => RowStamp {
  const stampAt = (created_at: Date): RowStamp => ({ id: newId(prefix, created_at), created_at })
  return (after = '') => {
    const stamp = stampAt(clock.now())
    if (stamp.id > after) return stamp
    const next_ms = idTimeMs(after) + 1
    const is_plausible = next_ms - stamp.created_at.getTime() <= CLOCK_DIFFERENCE_MAX_MS
    return is_plausible ? stampAt(new Date(next_ms)) : stamp
  }
}
