import type { ActivityEvent } from '#contract/activity.ts'
import type { Caller } from '#domain/context/context.ts'
import type { Tx } from '#platform/postgres/db.ts'
import { activityView, whereVisibleTo } from './activity.ts'
import { readActivityPage } from './activity_store.ts'

const BATCH_SIZE = 100

/** Events after the one with this id that the caller may see, oldest first. */
export async function activityAfter(
  tx: Tx,
  caller: Caller,
  after: string,
): Promise<{ events: ActivityEvent[]; has_more: boolean }> {
  const page = await readActivityPage(tx, {
    operation: 'get_activity',
    where: [...whereVisibleTo(caller), ['id > ?', after]],
    input: { order: 'asc', limit: BATCH_SIZE },
  })
  return { events: page.data.map(activityView), has_more: page.has_more }
}
