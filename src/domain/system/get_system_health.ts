import type { Handler } from '#domain/context/context.ts'
import { systemHealth } from './health.ts'

export const getSystemHealth: Handler<'get_system_health'> = (context) =>
  systemHealth(context, context.now)
