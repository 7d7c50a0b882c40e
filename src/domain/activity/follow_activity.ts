import type { ActivityEvent } from '#contract/activity.ts'
import type { Caller } from '#domain/context/context.ts'
import type { Tx } from '#platform/postgres/db.ts'
import { activityView, seenBy } from './activity.ts'
import { pageOfActivity } from './activity_store.ts'

const BATCH = 100

/** What this caller may see of what came after an event, oldest first; a full batch has a next. */
export async function activityAfter(
  tx: Tx,
  caller: Caller,
  after: string,
): Promise<{ events: ActivityEvent[]; has_more: boolean }> {
  const where = [...seenBy(caller), ['id > ?', after] as const]
  const page = await pageOfActivity(tx, 'get_activity', { order: 'asc', limit: BATCH }, where)
  return { events: page.data.map(activityView), has_more: page.has_more }
}
