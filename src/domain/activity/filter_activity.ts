import type { Handler } from '#domain/context/context.ts'
import { listActivity } from './list_activity.ts'

export const filterActivity: Handler<'filter_activity'> = (context, input) =>
  listActivity(context, 'filter_activity', input)
