import type { Handler } from '#domain/context/context.ts'
import { aboutThese, activityView, seenBy } from './activity.ts'
import { pageOfActivity } from './activity_store.ts'

export const getActivity: Handler<'get_activity'> = async ({ tx, caller }, input) => {
  const where = [...seenBy(caller), ...aboutThese(input)]
  const page = await pageOfActivity(tx, 'get_activity', input, where)
  return { ...page, data: page.data.map(activityView) }
}
