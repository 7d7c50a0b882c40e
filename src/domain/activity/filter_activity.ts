import type { Handler } from '#domain/context/context.ts'
import { aboutThese, activityView, ofKinds, seenBy } from './activity.ts'
import { pageOfActivity } from './activity_store.ts'

export const filterActivity: Handler<'filter_activity'> = async ({ tx, caller }, input) => {
  const where = [...seenBy(caller), ...ofKinds(input.type), ...aboutThese(input)]
  const page = await pageOfActivity(tx, 'filter_activity', input, where)
  return { ...page, data: page.data.map(activityView) }
}
