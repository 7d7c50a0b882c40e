import { calls } from '#doors/operator/calls.ts'
import type { OperatorCall } from '#doors/operator/operator_call.ts'

export type { OperatorCall }

/** What those who run the programme can ask and do, for commands that are read off it. */
export const operator_calls: readonly OperatorCall[] = Object.values(calls)
