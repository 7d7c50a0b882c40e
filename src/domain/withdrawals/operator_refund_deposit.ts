import { Problem } from '#contract/problem.ts'
import type {
  OperatorHandler,
  OperatorPreparing,
  PreparedOperatorHandler,
} from '#domain/operators/operator.ts'
import { requireRailOpen } from '#domain/risk/kill_switch.ts'
import { beginRefund } from '#domain/topups/refund_deposit.ts'
import { findHeld, type HeldDepositRow } from '#domain/topups/suspense_store.ts'
import { requireChainAsset } from '#domain/topups/topup.ts'
import type { Chain, ChainAsset } from '#rails/chain/chain.ts'
import type { Settings } from '#settings/settings.ts'
import { orderApproval } from './order_approval.ts'
import { requireAddress } from './withdrawal.ts'
import { insertWithdrawal, isDepositAddress } from './withdrawal_store.ts'

export const operatorRefundDeposit: PreparedOperatorHandler<'operator_refund_deposit'> = {
  prepare: async (context, { id }) => {
    await screenSender(context, id)
    return refundDeposit
  },
}

/** If the deposit is no longer in suspense, the refund itself is refused. */
async function screenSender(
  { db, settings, screener }: OperatorPreparing,
  id: string,
): Promise<void> {
  const deposit = await findHeld(db, id)
  if (deposit === undefined) return
  const { chain } = assetOf(settings, deposit)
  const { decision } = await screener.screen({
    chain: chain.name,
    address: chain.showAddress(deposit.from_address),
    direction: 'out',
    amount_micros: deposit.value_micros,
  })
  // `review` asks for an operator's decision, and this refund is one.
  if (decision !== 'block') return
  throw new Problem(
    'address_blocked',
    'The sender is on the screening list. The deposit stays in suspense.',
  )
}

/** Refunds a held deposit to its sender through a withdrawal without a fee. */
const refundDeposit: OperatorHandler<'operator_refund_deposit'> = async (context, { id }) => {
  const { tx, now, settings, keys } = context
  await requireRailOpen(tx, 'withdrawals')
  const { deposit, topup } = await beginRefund(context, id)
  const { chain, asset } = assetOf(settings, deposit)
  const address = chain.showAddress(deposit.from_address)
  requireAddress(chain, address)
  if (await isDepositAddress(tx, chain.name, deposit.from_address)) throw ownAddress()
  const { account_id, value_micros } = deposit
  const order_id = context.newId('wd')
  await insertWithdrawal(tx, {
    client_id: null,
    account_id,
    id: order_id,
    refund_of: id,
    asset: asset.asset,
    chain: chain.name,
    address,
    amount_micros: value_micros,
    fee_micros: 0n,
    step: 'reserved',
    status_reason: null,
    approval: orderApproval(keys, {
      id: order_id,
      chain,
      asset,
      to: address,
      net_micros: value_micros,
    }),
    metadata: {},
    created_at: now,
  })
  return topup
}

const assetOf = (
  settings: Settings,
  { chain, asset }: HeldDepositRow,
): { chain: Chain; asset: ChainAsset } => requireChainAsset(settings, { chain, asset })

const ownAddress = () =>
  new Problem(
    'invalid_address',
    'The sender is one of our own addresses. Release the deposit instead.',
  )
