import { activity_only_types, event_types, named_event_types } from '#contract/events.ts'
import type { InputOfName } from '#contract/operations.ts'
import type { Caller, Context } from '#domain/context/context.ts'
import { requireKnownTypes } from '#domain/events/event.ts'
import { mapPage } from '#platform/postgres/page.ts'
import {
  activityView,
  whereMatches,
  whereOfAgents,
  whereTypeIn,
  whereVisibleTo,
} from './activity.ts'
import { readActivityPage } from './activity_store.ts'

/** A page of what happened. A cursor belongs to the operation that made it. */
export async function listActivity(
  { tx, caller }: Context<Caller>,
  operation: 'get_activity' | 'filter_activity',
  input: InputOfName<'get_activity'>,
) {
  requireKnownTypes(input.event, isActivityType)
  const where = [
    ...whereVisibleTo(caller),
    ...(input.type === undefined ? [] : whereTypeIn(input.type)),
    ...whereMatches(input),
    ...(await whereOfAgents(tx, caller.account_id, input.agent)),
  ]
  const page = await readActivityPage(tx, { operation, where, input })
  return mapPage(page, activityView)
}

const types: ReadonlySet<string> = new Set([
  ...Object.keys({ ...event_types, ...named_event_types }),
  ...activity_only_types,
])

const isActivityType = (type: string): boolean => types.has(type)
