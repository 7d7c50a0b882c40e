import type { OperatorHandler } from '#domain/operators/operator.ts'
import { systemHealth } from './health.ts'

export const operatorGetHealth: OperatorHandler<'operator_get_health'> = (context) =>
  systemHealth(context, context.now)
