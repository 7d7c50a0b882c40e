import { assert } from '#kernel/assert.ts'
import { type ChainSender, type Payment, TransferRefused } from '#rails/chain/sender.ts'
import type { TransferIntent } from '#rails/signer/intent.ts'
import { TRANSACTION_DIGITS_MAX } from '#rails/signer/intent_shape.ts'
import { holdForReview, resumeAttempt } from './advance_withdrawal.ts'
import { alertOperator } from './awaiting_review.ts'
import { LASTING_REFUSALS } from './lasting_refusals.ts'
import { findNextNonce } from './sender_order_store.ts'
import { type SentTransferRow, toSentTransferRow, toStoredTransfer } from './sent_transfers.ts'
import { netOf, type WithdrawalRow } from './withdrawal.ts'
import type { WithdrawalDependencies } from './withdrawal_dependencies.ts'
import { findTransfers } from './withdrawal_store.ts'

/** The signer's limits are per hour, so a refused withdrawal is retried after a minute. */
const REFUSED_MS = 60_000

/**
 * If the node refuses it for this long, the cause is not a hot wallet that waits for sweeps. A
 * transfer that is in no block for this long is not in the node's pool either.
 */
const OPERATOR_AFTER_MS = 60 * 60_000

/** Signs the transfer of a reserved withdrawal. Null if the signer or the node refuses for now. */
export async function signTransfer(
  dependencies: WithdrawalDependencies,
  chain_sender: ChainSender,
  withdrawal: WithdrawalRow,
): Promise<SentTransferRow | null> {
  const transfers = await findTransfers(dependencies.db, withdrawal)
  const lost_nonce = await findLostNonce(chain_sender, transfers)
  if (lost_nonce === 'unproven') {
    await holdForLostNonce(dependencies, withdrawal)
    return null
  }
  if (lost_nonce === 'own') {
    await resumeLast(dependencies, withdrawal, transfers)
    return null
  }
  const network = await networkOf(dependencies, chain_sender, withdrawal)
  if (network instanceof TransferRefused) {
    await holdRefusedByNode(dependencies, withdrawal, network)
    return null
  }
  const { attempt } = withdrawal
  const outcome = await dependencies.signer.sign(
    intentOf(chain_sender, withdrawal, { attempt, network: { ...network, ...lost_nonce } }),
  )
  const now = dependencies.clock.now()
  if (outcome.ok) return toSentTransferRow(chain_sender, outcome.transfer, { attempt, now })
  logRefusal(dependencies, withdrawal, outcome.refusal)
  if (outcome.refusal !== 'attempt_too_early') {
    await hold(dependencies, withdrawal, {
      is_lasting: LASTING_REFUSALS.includes(outcome.refusal),
    })
  } else if (transfers.length > 0 && lost_nonce === null) {
    await resumeLast(dependencies, withdrawal, transfers)
  } else {
    // Without a transfer the database was restored, and one that the signer knows may be mined.
    await holdForLostNonce(dependencies, withdrawal)
  }
  return null
}

/** Why the last attempt can't be mined, for the signer: null on a chain without nonces. */
type LostNonce = { nonce_taken_by: string } | 'own' | 'unproven' | null

/**
 * The last attempt is dead, because its nonce is used. The signer needs the transaction that used
 * it: 'own' is an attempt of this withdrawal, so nothing is lost; 'unproven' means that the node
 * does not show it, or shows more bytes than the signer reads.
 */
async function findLostNonce(
  chain_sender: ChainSender,
  transfers: readonly SentTransferRow[],
): Promise<LostNonce> {
  const [last] = transfers
  if (last === undefined || last.nonce === null) return null
  const { chain } = chain_sender
  const user = await chain_sender.findNonceUser(toStoredTransfer(chain.hot_wallet, last))
  if (user === null) return 'unproven'
  if (transfers.some(({ txid }) => txid === chain.showTxid(user.txid))) return 'own'
  const { raw } = user
  const isShown = raw !== null && raw.length <= TRANSACTION_DIGITS_MAX
  return isShown ? { nonce_taken_by: raw } : 'unproven'
}

async function resumeLast(
  dependencies: WithdrawalDependencies,
  withdrawal: WithdrawalRow,
  [last]: readonly SentTransferRow[],
): Promise<void> {
  assert(last !== undefined, 'a withdrawal that resumes has a transfer')
  await resumeAttempt(dependencies, withdrawal, last)
}

/** Nobody can show the signer that the last transfer is lost, so only an operator decides. */
async function holdForLostNonce(
  dependencies: WithdrawalDependencies,
  withdrawal: WithdrawalRow,
): Promise<void> {
  const next_try_at = dependencies.clock.now()
  const held = { step: 'review', next_try_at, status_reason: 'nonce_taken' } as const
  await holdForReview(dependencies, withdrawal, held)
  alertOperator(dependencies, withdrawal, 'the nonce of a withdrawal was used elsewhere')
}

/**
 * The signer has signed this transfer before, but it was not stored: the database was restored, or
 * the process died. While it may be mined, no other is signed; after an hour an operator decides.
 */
export async function holdUnseenTransfer(
  dependencies: WithdrawalDependencies,
  withdrawal: WithdrawalRow,
  { txid }: SentTransferRow,
): Promise<void> {
  const fields = { withdrawal_id: withdrawal.id, txid }
  dependencies.log.error('a transfer signed before is in no block', fields, undefined)
  if (isHeldForLong(dependencies, withdrawal)) await holdForLostNonce(dependencies, withdrawal)
  else await hold(dependencies, withdrawal, { is_lasting: false })
}

/** The first hold sets the reason; later ones change nothing. */
function isHeldForLong(
  { clock }: WithdrawalDependencies,
  { status_reason, updated_at }: WithdrawalRow,
): boolean {
  const held_ms = status_reason === null ? 0 : clock.now().getTime() - updated_at.getTime()
  return held_ms >= OPERATOR_AFTER_MS
}

async function networkOf(
  { db }: WithdrawalDependencies,
  chain_sender: ChainSender,
  withdrawal: WithdrawalRow,
): Promise<TransferIntent['network'] | TransferRefused> {
  const { chain } = chain_sender
  const next_nonce = await findNextNonce(db, { chain: chain.name, address: chain.hot_wallet })
  return chain_sender
    .networkParameters({ ...paymentOf(chain_sender, withdrawal), next_nonce })
    .catch((cause: unknown) => {
      if (cause instanceof TransferRefused) return cause
      throw cause
    })
}

async function holdRefusedByNode(
  dependencies: WithdrawalDependencies,
  withdrawal: WithdrawalRow,
  refused: TransferRefused,
): Promise<void> {
  const fields = { withdrawal_id: withdrawal.id }
  dependencies.log.error('the node would refuse a withdrawal', fields, refused)
  await hold(dependencies, withdrawal, { is_lasting: isHeldForLong(dependencies, withdrawal) })
}

/**
 * Tries again in a minute. A lasting refusal waits for an operator instead, who can return the
 * money; a refund of a deposit is already an operator's decision and is tried until it succeeds.
 */
async function hold(
  dependencies: WithdrawalDependencies,
  withdrawal: WithdrawalRow,
  { is_lasting }: { is_lasting: boolean },
): Promise<void> {
  const next_try_at = new Date(dependencies.clock.now().getTime() + REFUSED_MS)
  const isForOperator = is_lasting && withdrawal.refund_of === null
  const step = isForOperator ? 'review' : 'reserved'
  await holdForReview(dependencies, withdrawal, { step, next_try_at })
  if (isForOperator) alertOperator(dependencies, withdrawal, 'a withdrawal cannot be sent')
}

/** Signs a stuck transfer again with a higher fee. Null if that's impossible; it keeps waiting. */
export async function signReplacement(
  dependencies: WithdrawalDependencies,
  chain_sender: ChainSender,
  { withdrawal, stuck }: { withdrawal: WithdrawalRow; stuck: SentTransferRow },
): Promise<SentTransferRow | null> {
  const payment = paymentOf(chain_sender, withdrawal)
  const from = chain_sender.chain.hot_wallet
  const network = await chain_sender.replacementParameters(payment, toStoredTransfer(from, stuck))
  if (network === null) return null
  const attempt = stuck.attempt + 1
  const outcome = await dependencies.signer.sign(
    intentOf(chain_sender, withdrawal, { attempt, network }),
  )
  if (outcome.ok)
    return toSentTransferRow(chain_sender, outcome.transfer, {
      attempt,
      now: dependencies.clock.now(),
    })
  logRefusal(dependencies, withdrawal, outcome.refusal)
  return null
}

function logRefusal({ log }: WithdrawalDependencies, { id }: WithdrawalRow, refusal: string): void {
  const fields = { withdrawal_id: id, refusal }
  log.error('the signer refused a withdrawal', fields, new Error(refusal))
}

function paymentOf({ chain }: ChainSender, withdrawal: WithdrawalRow): Payment {
  const asset = chain.asset(withdrawal.asset)
  const to = chain.readAddress(withdrawal.address)
  assert(asset !== undefined && to !== null, 'the asset and address were checked by the request')
  const { contract } = asset
  return { from: chain.hot_wallet, to, contract, amount: netOf(withdrawal), next_nonce: null }
}

function intentOf(
  { chain }: ChainSender,
  withdrawal: WithdrawalRow,
  input: Pick<TransferIntent, 'attempt' | 'network'>,
): TransferIntent {
  const contract = chain.asset(withdrawal.asset)?.contract ?? ''
  return {
    ...input,
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
