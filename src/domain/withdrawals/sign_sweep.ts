import { assert } from '#kernel/assert.ts'
import type { Outlet, Payment } from '#rails/chain/outlet.ts'
import type { TransferIntent } from '#rails/signer/intent.ts'
import { updateStep, storeLeg, storeLegReplacement } from './advance_sweep.ts'
import { findNextNonce } from './sender_order_store.ts'
import { toSentTransferRow, type SentTransferRow, toStoredTransfer } from './sent_transfers.ts'
import type { WithdrawalDependencies } from './sign_withdrawal.ts'
import type { Leg, SweepRow } from './sweep_store.ts'

export type SweepContext = { parts: WithdrawalDependencies; outlet: Outlet }

/** The payment that a sweep is made for: all of the asset, from the address to the hot wallet. */
export function paymentOf({ chain }: Outlet, sweep: SweepRow): Payment {
  return {
    from: sweep.address,
    to: chain.hot_wallet,
    contract: chain.asset(sweep.asset)?.contract ?? null,
    amount: sweep.value_micros,
    next_nonce: null,
  }
}

export const senderOf = ({ chain }: Outlet, sweep: SweepRow, leg: Leg): string =>
  leg === 'fuel' ? chain.hot_wallet : sweep.address

/** What one leg of it pays; fuel is the chain's own coin, the other way. */
function legPayment(outlet: Outlet, sweep: SweepRow, leg: Leg): Payment {
  const payment = paymentOf(outlet, sweep)
  if (leg === 'asset') return payment
  assert(sweep.fuel !== null, 'fuel was measured before it is signed for')
  return { ...payment, from: payment.to, to: payment.from, contract: null, amount: sweep.fuel }
}

/** Signs a leg, stores it and sends it. */
export async function signLeg(context: SweepContext, sweep: SweepRow, leg: Leg): Promise<void> {
  const { parts, outlet } = context
  const payment = legPayment(outlet, sweep, leg)
  const sender = senderOf(outlet, sweep, leg)
  const next_nonce = await findNextNonce(parts.db, { chain: sweep.chain, address: sender })
  const network = await outlet.networkFacts({ ...payment, next_nonce })
  const { attempt } = sweep
  const outcome = await parts.signer.sign(intentOf(outlet, sweep, { payment, attempt, network }))
  if (!outcome.ok) {
    logRefusal(context, sweep, outcome.refusal)
    await updateStep(parts, sweep, {})
    return
  }
  const transfer = toSentTransferRow(outlet, outcome.transfer, { attempt, now: parts.clock.now() })
  if (await storeLeg(parts, sweep, { leg, sender, transfer })) {
    await outlet.broadcast(toStoredTransfer(sender, transfer))
  }
}

/** A leg that no block takes, again at a higher price; false where the sender cannot pay it. */
export async function replaceLeg(
  context: SweepContext,
  sweep: SweepRow,
  { leg, stuck }: { leg: Leg; stuck: SentTransferRow },
): Promise<boolean> {
  const { parts, outlet } = context
  const sender = senderOf(outlet, sweep, leg)
  const payment = legPayment(outlet, sweep, leg)
  const network = await outlet.replacementFacts(payment, toStoredTransfer(sender, stuck))
  if (network === null) return false
  const attempt = stuck.attempt + 1
  const outcome = await parts.signer.sign(intentOf(outlet, sweep, { payment, attempt, network }))
  if (!outcome.ok) {
    logRefusal(context, sweep, outcome.refusal)
    return false
  }
  const transfer = toSentTransferRow(outlet, outcome.transfer, { attempt, now: parts.clock.now() })
  const isStored = await storeLegReplacement(parts, sweep, { leg, transfer })
  if (isStored) await outlet.broadcast(toStoredTransfer(sender, transfer))
  return isStored
}

type Trial = Pick<TransferIntent, 'attempt' | 'network'> & { payment: Payment }

function intentOf(
  { chain }: Outlet,
  sweep: SweepRow,
  { payment, attempt, network }: Trial,
): TransferIntent {
  const { contract } = payment
  const purpose = contract === null ? 'fuel' : 'sweep'
  return {
    id: `${purpose}:${chain.name}:${sweep.address}:${sweep.number}`,
    attempt,
    purpose,
    chain: chain.name,
    contract: contract === null ? null : chain.showAddress(contract),
    deposit_index: Number(sweep.address_index),
    to: chain.showAddress(payment.to),
    amount: payment.amount.toString(),
    network,
    approval: null,
  }
}

function logRefusal({ parts, outlet }: SweepContext, { address }: SweepRow, refusal: string): void {
  const fields = { address: outlet.chain.showAddress(address), refusal }
  parts.log.error('the signer refused a sweep', fields, new Error(refusal))
}
