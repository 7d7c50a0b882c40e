import { assert } from '#kernel/assert.ts'
import type { ChainSender, Payment } from '#rails/chain/sender.ts'
import type { SignerRefusal, TransferIntent } from '#rails/signer/intent.ts'
import { settleSweep, storeLeg, storeLegReplacement, updateStep } from './advance_sweep.ts'
import { MALFORMED_REFUSALS } from './lasting_refusals.ts'
import { findNextNonce } from './sender_order_store.ts'
import { type SentTransferRow, toSentTransferRow, toStoredTransfer } from './sent_transfers.ts'
import type { Leg, SweepRow } from './sweep_store.ts'
import type { WithdrawalDependencies } from './withdrawal_dependencies.ts'

export type SweepContext = { dependencies: WithdrawalDependencies; chain_sender: ChainSender }

/** The payment of the asset leg: the planned amount, from the address to the hot wallet. */
export function paymentOf({ chain }: ChainSender, sweep: SweepRow): Payment {
  return {
    from: sweep.address,
    to: chain.hot_wallet,
    contract: chain.asset(sweep.asset)?.contract ?? null,
    amount: sweep.value_micros,
    next_nonce: null,
  }
}

export const senderOf = ({ chain }: ChainSender, sweep: SweepRow, leg: Leg): string =>
  leg === 'fuel' ? chain.hot_wallet : sweep.address

/** The fuel leg pays the chain's native coin from the hot wallet to the address. */
function legPayment(chain_sender: ChainSender, sweep: SweepRow, leg: Leg): Payment {
  const payment = paymentOf(chain_sender, sweep)
  if (leg === 'asset') return payment
  assert(sweep.fuel !== null, 'the fuel amount is stored before it is signed')
  return { ...payment, from: payment.to, to: payment.from, contract: null, amount: sweep.fuel }
}

/** Signs, stores and sends the transfer of a leg. */
export async function signLeg(context: SweepContext, sweep: SweepRow, leg: Leg): Promise<void> {
  const { dependencies, chain_sender } = context
  const payment = legPayment(chain_sender, sweep, leg)
  const sender = senderOf(chain_sender, sweep, leg)
  const next_nonce = await findNextNonce(dependencies.db, { chain: sweep.chain, address: sender })
  const network = await chain_sender.networkParameters({ ...payment, next_nonce })
  const { attempt } = sweep
  const outcome = await dependencies.signer.sign(
    intentOf(chain_sender, sweep, { payment, attempt, network }),
  )
  if (!outcome.ok) {
    logRefusal(context, sweep, outcome.refusal)
    if (isFinalRefusal(outcome.refusal, network)) {
      await settleSweep(dependencies, sweep, { leg, ok: false })
    } else await updateStep(dependencies, sweep, {})
    return
  }
  const transfer = toSentTransferRow(chain_sender, outcome.transfer, {
    attempt,
    now: dependencies.clock.now(),
  })
  if (await storeLeg(dependencies, sweep, { leg, sender, transfer })) {
    await chain_sender.broadcast(toStoredTransfer(sender, transfer))
  }
}

/**
 * The next sweep has another number, so for the signer it is another transfer. amount_over_limit:
 * the fuel was computed when fees were high. intent_conflict: after a restore of the database, the
 * signer knows an earlier sweep with this number. attempt_too_early: the nonce was used by hand; on
 * a chain without nonces the last attempt expires soon. The others are tried once an hour, in case
 * the signer's settings were wrong.
 */
const isFinalRefusal = (refusal: SignerRefusal, { family }: TransferIntent['network']): boolean =>
  refusal === 'amount_over_limit' ||
  refusal === 'intent_conflict' ||
  MALFORMED_REFUSALS.includes(refusal) ||
  (refusal === 'attempt_too_early' && family === 'evm')

/** Sends a stuck transfer again with a higher fee. False if the sender can't pay the fee. */
export async function replaceLeg(
  context: SweepContext,
  sweep: SweepRow,
  { leg, stuck }: { leg: Leg; stuck: SentTransferRow },
): Promise<boolean> {
  const { dependencies, chain_sender } = context
  const sender = senderOf(chain_sender, sweep, leg)
  const payment = legPayment(chain_sender, sweep, leg)
  const network = await chain_sender.replacementParameters(payment, toStoredTransfer(sender, stuck))
  if (network === null) return false
  const attempt = stuck.attempt + 1
  const outcome = await dependencies.signer.sign(
    intentOf(chain_sender, sweep, { payment, attempt, network }),
  )
  if (!outcome.ok) {
    logRefusal(context, sweep, outcome.refusal)
    return false
  }
  const transfer = toSentTransferRow(chain_sender, outcome.transfer, {
    attempt,
    now: dependencies.clock.now(),
  })
  const isStored = await storeLegReplacement(dependencies, sweep, { leg, transfer })
  if (isStored) await chain_sender.broadcast(toStoredTransfer(sender, transfer))
  return isStored
}

type IntentInput = Pick<TransferIntent, 'attempt' | 'network'> & { payment: Payment }

function intentOf(
  { chain }: ChainSender,
  sweep: SweepRow,
  { payment, attempt, network }: IntentInput,
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

function logRefusal(
  { dependencies, chain_sender }: SweepContext,
  { address }: SweepRow,
  refusal: string,
): void {
  const { chain } = chain_sender
  const fields = { chain: chain.name, address: chain.showAddress(address), refusal }
  dependencies.log.error('the signer refused a sweep', fields, new Error(refusal))
}
