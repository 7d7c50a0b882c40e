import { Problem } from '#contract/problem.ts'
import { move } from '#domain/ledger/move.ts'
import type { Move } from '#domain/ledger/post.ts'
import type { Command, Outcome } from '#test/simulation/model/commands.ts'
import type { AccountRows } from './account_rows.ts'
import { type CoreState, memoryTx, stampAt } from './core_state.ts'

/**
 * The calls of owners and operators over memory. The handlers mix their decisions with SQL, so the
 * calls here repeat the order of a handler's steps; every decision and movement is the real code.
 */
export type CallContext = { core: CoreState; rows: AccountRows; now: Date }

export type CommandOf<Op extends Command['op']> = Extract<Command, { op: Op }>

export type Calls<Ops extends Command['op']> = {
  [Op in Ops]: (context: CallContext, command: CommandOf<Op>) => Promise<Outcome> | Outcome
}

export const ok = (amount?: bigint): Outcome =>
  amount === undefined ? { result: 'ok' } : { result: 'ok', amount }

export const notFound = () => new Problem('not_found', 'Not found.')

/** The pipeline refuses calls of a suspended account. */
export function requireActive({ rows }: CallContext): void {
  if (rows.is_suspended) throw new Problem('account_suspended', 'Suspended.')
}

export function requireRail({ core }: CallContext, rail: string): void {
  if (core.killed.has(rail)) throw new Problem('kill_switch_active', 'Paused.')
}

type Step = Pick<Move, 'movement' | 'from' | 'to' | 'amount_micros'>

/** One movement by the ledger's own code; it throws if the purse does not have enough. */
export async function moveMoney({ core, rows, now }: CallContext, step: Step): Promise<void> {
  const reference = { type: 'account', id: rows.id }
  const one = { account_id: rows.id, reference, description: '', ...step }
  await move(memoryTx(core), one, stampAt(core, now))
}
