import type { Handler } from '#domain/context/context.ts'
import { mapPage } from '#platform/postgres/page.ts'
import {
  activityView,
  whereMatches,
  whereOfAgents,
  whereTypeIn,
  whereVisibleTo,
} from './activity.ts'
import { readActivityPage } from './activity_store.ts'

export const filterActivity: Handler<'filter_activity'> = async ({ tx, caller }, input) => {
  const where = [
    ...whereVisibleTo(caller),
    ...whereTypeIn(input.type),
    ...whereMatches(input),
    ...(await whereOfAgents(tx, caller.account_id, input.agent)),
  ]
  const page = await readActivityPage(tx, { operation: 'filter_activity', where, input })
  return mapPage(page, activityView)
}
