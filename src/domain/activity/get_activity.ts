import type { Handler } from '#domain/context/context.ts'
import { listActivity } from './list_activity.ts'

export const getActivity: Handler<'get_activity'> = (context, input) =>
  listActivity(context, 'get_activity', input)
