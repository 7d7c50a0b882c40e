import type { IdPrefix } from '#kernel/id.ts'
import type { Dependencies } from './context.ts'

export type Stamp = { id: string; created_at: Date }

/**
 * Returns a function that makes an id and its timestamp. It is called under the lock of the
 * account's sequence row, so ids of one account are in commit order.
 */
export function makeStamp(
  { clock, newId }: { clock: Dependencies['clock']; newId: Dependencies['newId'] },
  prefix: IdPrefix,
): () => Stamp {
  return () => {
    const created_at = clock.now()
    return { id: newId(prefix, created_at), created_at }
  }
}
