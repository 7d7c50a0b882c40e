import { Problem } from '#contract/problem.ts'
import { recheckCaller } from '#domain/accounts/recheck_caller.ts'
import { requireSessionCode } from '#domain/accounts/two_factor.ts'
import { chargeBudget, recordCharge } from '#domain/budgets/charge_budget.ts'
import { clientIdOf } from '#domain/context/client_id.ts'
import type { Context, Handler, PreparingContext } from '#domain/context/context.ts'
import { move } from '#domain/ledger/move.ts'
import { payout, treasury } from '#domain/ledger/purse.ts'
import { requireRailOpen } from '#domain/risk/kill_switch.ts'
import { needsReview, requireCooledDown, requireCreditLeft } from '#domain/risk/risk.ts'
import { spendLimitsOf } from '#domain/risk/spend_limits.ts'
import { requireChainAsset } from '#domain/topups/topup.ts'
import { formatUsd, microsFromUsd } from '#kernel/money.ts'
import type { Chain, ChainAsset } from '#rails/chain/chain.ts'
import type { SpendLimits } from '#settings/spend_limit_settings.ts'
import { orderApproval } from './order_approval.ts'
import {
  requireAddress,
  requireWithdrawalAmount,
  requireWithinDay,
  unusableAddress,
  type WithdrawalRow,
  withdrawalReference,
  withdrawalView,
} from './withdrawal.ts'
import { insertWithdrawal, isDepositAddress, sumWithdrawnToday } from './withdrawal_store.ts'

/**
 * Reserves the amount and stores the withdrawal in one transaction; a task sends it. The address is
 * screened here, and again by the task just before signing.
 */
export const withdraw: Handler<'withdraw'> = {
  prepare: async (context, input) => {
    const { db, caller, settings } = context
    const { chain, asset } = requireChainAsset(settings, {
      chain: input.chain ?? 'tron',
      asset: input.asset ?? 'USDT',
    })
    const limits = await spendLimitsOf(db, caller.account_id, settings)
    const amount_micros = requireWithdrawalAmount(input.amount_usd, limits)
    const fee_micros = microsFromUsd(limits.withdrawal_fee_usd)
    const address = requireAddress(chain, input.address)
    if (await isDepositAddress(db, chain.name, address)) throw unusableAddress()
    const target = { chain: chain.name, address: input.address, amount_micros }
    await requireCooledDown(db, caller, context)
    const isSuspicious = await requireAllowed(context, target)
    const isForReview = isSuspicious || needsReview(amount_micros, settings)
    const hasCode = await requireSessionCode(context, input.totp_code)

    return async (call) => {
      const { tx, now, newId, keys, audit } = call
      const { account_id } = caller
      await requireRailOpen(tx, 'withdrawals')
      await recheckCaller(call, { hasCode })
      const purpose = `withdraw ${formatUsd(amount_micros)} to ${input.address}`
      const charge = await chargeBudget(call, {
        operation: 'withdraw',
        input,
        amount_micros,
        card_id: null,
        purpose,
      })
      const order = { account_id, address: input.address, amount_micros, fee_micros }
      const { withdrawal, movement_id } = await reserve(
        { tx, now, newId, keys, settings },
        {
          ...order,
          chain,
          asset,
          limits,
          isForReview,
          metadata: input.metadata ?? {},
          client_id: clientIdOf(caller),
        },
      )
      await recordCharge(call, charge, { movement_id, card_id: null })
      const reference = withdrawalReference(withdrawal.id)
      audit(account_id, { action: 'withdrawal.requested', resource: reference })
      return withdrawalView(withdrawal)
    }
  },
}

type WithdrawalOrder = Pick<
  WithdrawalRow,
  'account_id' | 'address' | 'amount_micros' | 'fee_micros'
> &
  Pick<WithdrawalRow, 'metadata'> & {
    client_id: string | null
    chain: Chain
    asset: ChainAsset
    limits: SpendLimits
    isForReview: boolean
  }

/** Debits first: the treasury's lock makes concurrent withdrawals count towards the daily limit. */
async function reserve(
  { tx, now, newId, keys, settings }: Pick<Context, 'tx' | 'now' | 'newId' | 'keys' | 'settings'>,
  { chain, asset, limits, isForReview, ...order }: WithdrawalOrder,
): Promise<{ withdrawal: WithdrawalRow; movement_id: string }> {
  const { account_id, address, amount_micros, fee_micros } = order
  const id = newId('wd')
  const { id: movement_id, treasury_micros } = await move(
    tx,
    {
      movement: 'withdrawal_reserved',
      account_id,
      from: treasury,
      to: payout,
      amount_micros,
      reference: withdrawalReference(id),
      description: `${asset.asset} to ${address} on ${chain.name}`,
    },
    { now, newId },
  )
  const left_micros = treasury_micros ?? 0n
  await requireCreditLeft(tx, account_id, { amount_micros, left_micros, settings, now })
  requireWithinDay((await sumWithdrawnToday(tx, account_id, now)) + amount_micros, limits)
  const net_micros = amount_micros - fee_micros
  const approval = orderApproval(keys, { id, chain, asset, to: address, net_micros })
  const withdrawal = await insertWithdrawal(tx, {
    ...order,
    id,
    refund_of: null,
    asset: asset.asset,
    chain: chain.name,
    step: isForReview ? 'review' : 'reserved',
    status_reason: isForReview ? 'review' : null,
    approval,
    created_at: now,
  })
  return { withdrawal, movement_id }
}

type ScreeningTarget = { chain: string; address: string; amount_micros: bigint }

/** Returns true if an operator must review the withdrawal. */
async function requireAllowed(
  context: PreparingContext,
  target: ScreeningTarget,
): Promise<boolean> {
  const { decision } = await context.screener.screen({ ...target, direction: 'out' })
  if (decision !== 'block') return decision === 'review'
  await context.auditRefusal(context.caller.account_id, {
    action: 'withdrawal.requested',
    result: 'denied',
  })
  throw new Problem('address_blocked', 'Withdrawals to this address are blocked.', {
    details: [{ field: 'address', message: 'is blocked' }],
  })
}
