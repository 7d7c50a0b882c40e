import type { Handler } from '#domain/context/context.ts'
import { mapPage } from '#platform/postgres/page.ts'
import { activityView, whereMatches, whereOfAgents, whereVisibleTo } from './activity.ts'
import { readActivityPage } from './activity_store.ts'

export const getActivity: Handler<'get_activity'> = async ({ tx, caller }, input) => {
  const where = [
    ...whereVisibleTo(caller),
    ...whereMatches(input),
    ...(await whereOfAgents(tx, caller.account_id, input.agent)),
  ]
  const page = await readActivityPage(tx, { operation: 'get_activity', where, input })
  return mapPage(page, activityView)
}
