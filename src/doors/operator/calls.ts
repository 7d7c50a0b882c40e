import { case_calls } from './case_calls.ts'
import { grant_calls } from './grant_calls.ts'
import { holder_calls } from './holder_calls.ts'
import { money_calls } from './money_calls.ts'
import type { OperatorCall } from './operator_call.ts'
import { programme_calls } from './programme_calls.ts'

/** All that those who run the programme can ask and do, by name. */
export const calls = {
  ...case_calls,
  ...holder_calls,
  ...grant_calls,
  ...money_calls,
  ...programme_calls,
} as const satisfies Readonly<Record<string, OperatorCall>>

export type CallName = keyof typeof calls
