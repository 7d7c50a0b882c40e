import type { Dependencies } from '#domain/context/context.ts'
import { assert } from '#kernel/assert.ts'
import type { Outlet, Payment } from '#rails/chain/outlet.ts'
import type { SignerClient } from '#rails/signer/client.ts'
import type { TransferIntent } from '#rails/signer/intent.ts'
import { holdForReview, resumeAttempt } from './advance_withdrawal.ts'
import { findNextNonce } from './sender_order_store.ts'
import { toSentTransferRow, type SentTransferRow, toStoredTransfer } from './sent_transfers.ts'
import { netOf, type WithdrawalRow } from './withdrawal.ts'
import { findTransfers } from './withdrawal_store.ts'

export type WithdrawalDependencies = Pick<
  Dependencies,
  'db' | 'clock' | 'newId' | 'settings' | 'screener' | 'log' | 'fail'
> & { signer: SignerClient; outlets: readonly Outlet[] }

/** A signer that has refused is asked again after so long, for its limits are by the hour. */
const REFUSED_MS = 60_000

/** A transfer for what was reserved; null where the signer will not have it yet. */
export async function signTransfer(
  parts: WithdrawalDependencies,
  outlet: Outlet,
  withdrawal: WithdrawalRow,
): Promise<SentTransferRow | null> {
  const { chain } = outlet
  const next_nonce = await findNextNonce(parts.db, { chain: chain.name, address: chain.hot_wallet })
  const network = await outlet.networkFacts({ ...paymentOf(outlet, withdrawal), next_nonce })
  const { attempt } = withdrawal
  const outcome = await parts.signer.sign(intentOf(outlet, withdrawal, { attempt, network }))
  const now = parts.clock.now()
  if (outcome.ok) return toSentTransferRow(outlet, outcome.transfer, { attempt, now })
  logRefusal(parts, withdrawal, outcome.refusal)
  const [last] = await findTransfers(parts.db, withdrawal)
  if (outcome.refusal === 'attempt_too_early' && last !== undefined) {
    await resumeAttempt(parts, withdrawal, last)
  } else {
    await holdForReview(parts, withdrawal, { next_try_at: new Date(now.getTime() + REFUSED_MS) })
  }
  return null
}

/** The stuck transfer at a higher price; null where that cannot be had, and it goes on waiting. */
export async function signReplacement(
  parts: WithdrawalDependencies,
  outlet: Outlet,
  { withdrawal, stuck }: { withdrawal: WithdrawalRow; stuck: SentTransferRow },
): Promise<SentTransferRow | null> {
  const payment = paymentOf(outlet, withdrawal)
  const from = outlet.chain.hot_wallet
  const network = await outlet.replacementFacts(payment, toStoredTransfer(from, stuck))
  if (network === null) return null
  const attempt = stuck.attempt + 1
  const outcome = await parts.signer.sign(intentOf(outlet, withdrawal, { attempt, network }))
  if (outcome.ok) return toSentTransferRow(outlet, outcome.transfer, { attempt, now: parts.clock.now() })
  logRefusal(parts, withdrawal, outcome.refusal)
  return null
}

function logRefusal({ log }: WithdrawalDependencies, { id }: WithdrawalRow, refusal: string): void {
  const fields = { withdrawal_id: id, refusal }
  log.error('the signer refused a withdrawal', fields, new Error(refusal))
}

function paymentOf({ chain }: Outlet, withdrawal: WithdrawalRow): Payment {
  const asset = chain.asset(withdrawal.asset)
  const to = chain.readAddress(withdrawal.address)
  assert(asset !== undefined && to !== null, 'a withdrawal was checked when it was asked for')
  const { contract } = asset
  return { from: chain.hot_wallet, to, contract, amount: netOf(withdrawal), next_nonce: null }
}

function intentOf(
  { chain }: Outlet,
  withdrawal: WithdrawalRow,
  trial: Pick<TransferIntent, 'attempt' | 'network'>,
): TransferIntent {
  const contract = chain.asset(withdrawal.asset)?.contract ?? ''
  return {
    ...trial,
    id: withdrawal.id,
    purpose: 'withdrawal',
    chain: chain.name,
    contract: chain.showAddress(contract),
    deposit_index: null,
    to: withdrawal.address,
    amount: netOf(withdrawal).toString(),
    approval: withdrawal.approval,
  }
}
