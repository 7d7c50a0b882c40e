import { emitAsSystem } from '#domain/audit/emit_as_system.ts'
import { type Move, post } from '#domain/ledger/post.ts'
import { chain as chain_purse, fees, payout, treasury } from '#domain/ledger/purse.ts'
import {
  abandonRefund,
  finishRefund,
  type SettlementContext,
} from '#domain/topups/refund_deposit.ts'
import { assert } from '#kernel/assert.ts'
import { formatUsd } from '#kernel/money.ts'
import type { Tx } from '#platform/postgres/db.ts'
import { netOf, shortAddress, type WithdrawalRow, withdrawalReference } from './withdrawal.ts'
import type { WithdrawalDependencies } from './withdrawal_dependencies.ts'
import { updateWithdrawal } from './withdrawal_store.ts'

/** The context of a task, whose events are emitted last in its transaction. */
export function systemContext(tx: Tx, dependencies: WithdrawalDependencies): SettlementContext {
  const { clock, newId, settings } = dependencies
  return {
    now: clock.now(),
    newId,
    settings,
    emit: (account_id, event) => emitAsSystem(tx, dependencies, account_id, { events: [event] }),
  }
}

type BlockPosition = Pick<WithdrawalRow, 'block_number' | 'txid'>

/** The locked withdrawal was sent: the reserved amount goes to the chain and to our fees. */
export async function settleAsSent(
  tx: Tx,
  context: SettlementContext,
  locked: WithdrawalRow,
  { block_number, txid }: BlockPosition,
): Promise<WithdrawalRow> {
  const { now } = context
  const change = {
    block_number,
    txid,
    status: 'completed',
    status_reason: null,
    step: 'completed',
    completed_at: now,
  } as const
  const done = await updateWithdrawal(tx, locked, change, now)
  if (done.refund_of !== null) {
    await finishRefund(tx, context, done.refund_of)
    return done
  }
  await postFromPayout(context, tx, done, [
    { movement: 'withdrawal_sent', to: chain_purse, amount_micros: netOf(done) },
    { movement: 'withdrawal_fee_taken', to: fees, amount_micros: done.fee_micros },
  ])
  const amount = formatUsd(done.amount_micros)
  await context.emit(done.account_id, {
    type: 'withdrawal.completed',
    message: `${amount} withdrawal to ${shortAddress(done.address)} is complete.`,
    object: null,
    ...subjectOf(done),
  })
  return done
}

/** The whole amount of the locked withdrawal returns to the treasury, or a deposit to suspense. */
export async function settleAsReturned(
  tx: Tx,
  context: SettlementContext,
  locked: WithdrawalRow,
  reason: string,
): Promise<WithdrawalRow> {
  const change = { status: 'failed', status_reason: reason, step: 'failed' } as const
  const failed = await updateWithdrawal(tx, locked, change, context.now)
  if (failed.refund_of !== null) {
    await abandonRefund(tx, context, failed.refund_of)
    return failed
  }
  await postFromPayout(context, tx, failed, [
    { movement: 'withdrawal_returned', to: treasury, amount_micros: failed.amount_micros },
  ])
  const verdict = reason === 'refused' ? 'Withdrawal refused.' : 'Withdrawal failed.'
  await context.emit(failed.account_id, {
    type: 'withdrawal.failed',
    severity: 'error',
    message: `${verdict} ${formatUsd(failed.amount_micros)} returned to your balance.`,
    object: null,
    ...subjectOf(failed),
  })
  return failed
}

/** The resource and amount of each event of a withdrawal. */
export const subjectOf = ({ id, amount_micros }: WithdrawalRow) => ({
  resource: withdrawalReference(id),
  amount_micros,
})

type PayoutMove = Pick<Move, 'movement' | 'to' | 'amount_micros'>

async function postFromPayout(
  { now, newId }: SettlementContext,
  tx: Tx,
  { account_id, id, asset, chain, address }: WithdrawalRow,
  payout_moves: readonly PayoutMove[],
): Promise<void> {
  const moves = payout_moves
    .filter(({ amount_micros }) => amount_micros > 0n)
    .map((payout_move) => ({
      ...payout_move,
      account_id,
      from: payout,
      reference: withdrawalReference(id),
      description: `${asset} to ${address} on ${chain}`,
    }))
  const posted = await post(tx, moves, { now, newId })
  assert(
    posted.every((one) => one !== null),
    'the reserved amount is in the payout purse',
  )
}
