import { Problem } from '#contract/problem.ts'
import type { Command, Outcome } from '#test/simulation/model/commands.ts'
import type { CallContext } from './call_context.ts'
import { card_calls } from './card_calls.ts'
import { type CoreState, rowsOf, storePostings } from './core_state.ts'
import { dispute_calls } from './dispute_calls.ts'
import { topup_calls } from './topup_calls.ts'

type Call = (context: CallContext, command: Command) => Promise<Outcome> | Outcome

const calls = { ...card_calls, ...topup_calls, ...dispute_calls } as unknown as Record<string, Call>

/** Runs a call of an owner or an operator; a Problem is its refusal. */
export async function runCoreCall(core: CoreState, command: Command, now: Date): Promise<Outcome> {
  const context = { core, rows: rowsOf(core, command.account), now }
  const call = calls[command.op]
  if (call === undefined) throw new Error(`no call for ${command.op}`)
  try {
    const outcome = await call(context, command)
    storePostings(core)
    return outcome
  } catch (cause) {
    if (cause instanceof Problem) return { result: 'refused', code: cause.code }
    throw cause
  }
}
