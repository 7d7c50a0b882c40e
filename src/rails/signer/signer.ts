import { bytesToHex, hexToBytes } from '@noble/hashes/utils.js'
import { cellOfAddressIndex } from '#kernel/cell.ts'
import { cellOfId } from '#kernel/id.ts'
import { bytesFromEvmHex } from '#rails/chain/evm/address.ts'
import { readSignedTransaction } from '#rails/chain/evm/signed_transaction.ts'
import { bytesFromTronAddress } from '#rails/chain/tron/address.ts'
import type { TronContract } from '#rails/chain/tron/contract.ts'
import { type RawData, referenceOf, signTransaction } from '#rails/chain/tron/transaction.ts'
import { transferCall } from '#rails/chain/tron/trc20.ts'
import {
  type EvmNetworkParameters,
  isApproved,
  type SignedTransfer,
  type SignerRefusal,
  type SignOutcome,
  substanceOf,
  type TransferIntent,
} from './intent.ts'
import type { IntentRecord, IntentStore } from './intent_store.ts'
import { checkPolicy, type SignerChain, type SignerPolicy } from './policy.ts'
import { signEvmTransfer } from './sign_evm_transfer.ts'
import type { Wallet } from './wallet.ts'

/**
 * The only component with private keys. It has its own clock, record and policy, and trusts nothing
 * in a request that it cannot check.
 */
export type Signer = { sign(intent: TransferIntent): SignOutcome }

export type SignerDependencies = {
  wallet: Wallet
  policy: SignerPolicy
  store: IntentStore
  /** More than one during a key rotation. */
  approvalKeys: () => readonly Uint8Array[]
  now_ms(): number
}

/** Long enough for a busy chain, short enough to replace a lost transfer soon. */
const LIFETIME_MS = 10 * 60_000

/** Chain time lags behind ours; after this the transfer has expired on the chain too. */
const GRACE_MS = 30_000

export function makeSigner(dependencies: SignerDependencies): Signer {
  return {
    sign: (intent) => {
      if (!dependencies.store.isSound()) return { ok: false, refusal: 'signer_fault' }
      const refusal = findRefusal(dependencies, intent)
      if (refusal !== null) return { ok: false, refusal }
      const known = dependencies.store.attemptsAt(intent.id)
      const again = known.find(({ attempt }) => attempt === intent.attempt)
      if (again !== undefined) return { ok: true, transfer: transferOf(again) }
      const transfer = buildTransfer(dependencies, intent)
      dependencies.store.add({
        ...transfer,
        id: intent.id,
        chain: intent.chain,
        attempt: intent.attempt,
        purpose: intent.purpose,
        substance: substanceOf(intent),
        amount: intent.amount,
        signed_at_ms: dependencies.now_ms(),
      })
      return { ok: true, transfer }
    },
  }
}

function findRefusal(
  dependencies: SignerDependencies,
  intent: TransferIntent,
): SignerRefusal | null {
  const chain = dependencies.policy.chains.find((one) => one.chain === intent.chain)
  if (chain === undefined || chain.family !== intent.network.family) return 'bad_intent'
  if (!/^\d{1,30}$/.test(intent.amount)) return 'bad_intent'
  return (
    checkContent(dependencies, chain, intent) ??
    checkAttempt(dependencies, chain, intent) ??
    checkFee(dependencies, chain, intent) ??
    checkAmount(dependencies, chain, intent)
  )
}

/** Applies to every attempt, because a replacement costs more. */
function checkFee(
  { store }: SignerDependencies,
  { fee_max }: SignerChain,
  { id, attempt, network }: TransferIntent,
): SignerRefusal | null {
  // An attempt that was signed before is returned again.
  if (store.attemptsAt(id).some((one) => one.attempt === attempt)) return null
  const fee =
    network.family === 'tron'
      ? BigInt(network.fee_limit_sun)
      : BigInt(network.gas) * BigInt(network.max_fee_per_gas)
  return fee > fee_max ? 'fee_over_limit' : null
}

/** Checks that each purpose pays only its own kind of recipient. */
function checkContent(
  { wallet, approvalKeys }: SignerDependencies,
  chain: SignerChain,
  intent: TransferIntent,
): SignerRefusal | null {
  const { purpose, deposit_index } = intent
  const cell = walletCell(chain, intent)
  if (!wallet.hasHotWallet(cell)) return 'bad_intent'
  const to = parseAddress(chain, intent.to)
  if (to === null) return 'bad_address'
  const contract = intent.contract === null ? null : parseAddress(chain, intent.contract)
  const isAllowed = contract !== null && chain.contracts.includes(contract)
  if (purpose === 'fuel') {
    if (intent.contract !== null || deposit_index === null) return 'contract_not_allowed'
    return to === wallet.addressOf(chain.family, deposit_index) ? null : 'bad_address'
  }
  if (!isAllowed) return 'contract_not_allowed'
  if (purpose === 'sweep') {
    if (deposit_index === null) return 'bad_intent'
    return to === wallet.addressOf(chain.family, null, cell) ? null : 'bad_address'
  }
  if (deposit_index !== null) return 'bad_intent'
  return approvalKeys().some((key) => isApproved(key, intent)) ? null : 'bad_approval'
}

type CellReference = Pick<TransferIntent, 'id' | 'deposit_index'>

/**
 * The cell whose hot wallet pays, or gets a sweep: that of the withdrawal's ID or of the deposit
 * address. Either may name a cell that doesn't exist: it belongs to cell 0.
 */
function walletCell({ cells }: SignerChain, { id, deposit_index }: CellReference): number {
  const cell = deposit_index === null ? cellOfId(id) : cellOfAddressIndex(deposit_index)
  return cells.has(cell) ? cell : 0
}

/** One live transfer per intent: the next attempt only once the last one can no longer execute. */
function checkAttempt(
  { wallet, store, now_ms }: SignerDependencies,
  chain: SignerChain,
  intent: TransferIntent,
): SignerRefusal | null {
  const attempts = store.attemptsAt(intent.id)
  const substance = substanceOf(intent)
  if (attempts.some((one) => one.substance !== substance)) return 'intent_conflict'
  if (attempts.some(({ attempt }) => attempt === intent.attempt)) return null
  if (intent.attempt !== attempts.length + 1) return 'intent_conflict'
  const last = attempts.at(-1)
  if (last === undefined) return null
  if (last.expires_at_ms === null) return checkNonce(intent, last, { wallet, store, chain })
  return now_ms() > last.expires_at_ms + GRACE_MS ? null : 'attempt_too_early'
}

/**
 * A replacement must keep its nonce. It may have a later one only if another transaction of the
 * same sender has the old nonce, because then the old transfer can never be mined. That is another
 * intent of ours, or a transaction that was signed elsewhere with the same key. Each nonce is lost
 * once: from then on the last attempt is the one with the later nonce.
 */
function checkNonce(
  intent: TransferIntent,
  last: IntentRecord,
  { wallet, store, chain }: Pick<SignerDependencies, 'wallet' | 'store'> & { chain: SignerChain },
): SignerRefusal | null {
  const { network, id } = intent
  if (network.family !== 'evm' || last.nonce === null) return 'intent_conflict'
  if (network.nonce === last.nonce) return null
  if (network.nonce < last.nonce) return 'attempt_too_early'
  const sender = senderOf(chain, intent)
  const isTakenByUs = [...store.all()].some(
    (one) =>
      one.id !== id &&
      one.chain === chain.chain &&
      one.nonce === last.nonce &&
      senderOf(chain, JSON.parse(one.substance)) === sender,
  )
  if (isTakenByUs || isTakenElsewhere(intent, network, { wallet, store, chain, last })) return null
  return 'attempt_too_early'
}

type LastAttempt = Pick<SignerDependencies, 'wallet' | 'store'> & {
  chain: SignerChain
  last: IntentRecord
}

/**
 * The service shows the other transaction; nobody without the key could have made it up. An attempt
 * of this intent is no such transaction, even with another valid signature.
 */
function isTakenElsewhere(
  intent: TransferIntent,
  { nonce_taken_by }: EvmNetworkParameters,
  { wallet, store, chain, last }: LastAttempt,
): boolean {
  const other = nonce_taken_by === undefined ? null : readSignedTransaction(nonce_taken_by)
  if (other === null || last.nonce === null) return false
  const own = store
    .attemptsAt(intent.id)
    .map(({ raw }) => readSignedTransaction(raw)?.signing_hash ?? '')
  const sender = wallet.addressOf('evm', senderIndexOf(intent), walletCell(chain, intent))
  return (
    other.from === sender &&
    other.chain_id === BigInt(chain.chain_id) &&
    other.nonce === BigInt(last.nonce) &&
    !own.includes(other.signing_hash)
  )
}

/** The deposit address that signs its sweep; null for the hot wallet. */
const senderIndexOf = ({
  purpose,
  deposit_index,
}: Pick<TransferIntent, 'purpose' | 'deposit_index'>): number | null =>
  purpose === 'sweep' ? deposit_index : null

const senderOf = (
  chain: SignerChain,
  intent: CellReference & Pick<TransferIntent, 'purpose'>,
): string =>
  senderIndexOf(intent) === null
    ? `hot wallet of cell ${walletCell(chain, intent)}`
    : `deposit address ${senderIndexOf(intent)}`

function checkAmount(
  dependencies: SignerDependencies,
  chain: SignerChain,
  intent: TransferIntent,
): SignerRefusal | null {
  const { policy, store, now_ms } = dependencies
  if (store.attemptsAt(intent.id).length > 0) return null
  const past = [...store.all()]
    .filter(({ attempt }) => attempt === 1)
    .map((one) => ({ ...one, amount: BigInt(one.amount) }))
  const amount = BigInt(intent.amount)
  return checkPolicy(intent, { policy, chain, past, now_ms: now_ms(), amount })
}

function buildTransfer(dependencies: SignerDependencies, intent: TransferIntent): SignedTransfer {
  const { network } = intent
  const chain = dependencies.policy.chains.find((one) => one.chain === intent.chain)
  const from_index = senderIndexOf(intent)
  const cell = chain === undefined ? 0 : walletCell(chain, intent)
  const key = dependencies.wallet.keyOf(network.family, from_index, cell)
  if (network.family === 'evm') {
    return signEvmTransfer(intent, { ...network, chain_id: chain?.chain_id ?? 0 }, key)
  }
  const owner = hexToBytes(dependencies.wallet.addressOf('tron', from_index, cell))
  const now_ms = dependencies.now_ms()
  const content: RawData = {
    ...referenceOf(network.reference),
    expiration_ms: now_ms + LIFETIME_MS,
    timestamp_ms: now_ms,
    fee_limit_sun: intent.contract === null ? 0n : BigInt(network.fee_limit_sun),
    contract: tronContract(intent, owner),
  }
  const { txid, raw, signature } = signTransaction(content, key)
  const expires_at_ms = content.expiration_ms
  return { txid, raw: bytesToHex(raw), signature, expires_at_ms, nonce: null }
}

function tronContract(intent: TransferIntent, owner: Uint8Array): TronContract {
  const to = bytesFromTronAddress(intent.to) ?? new Uint8Array()
  const amount = BigInt(intent.amount)
  if (intent.contract === null) return { type: 'TransferContract', owner, to, amount_sun: amount }
  return {
    type: 'TriggerSmartContract',
    owner,
    contract: bytesFromTronAddress(intent.contract) ?? new Uint8Array(),
    call_value_sun: 0n,
    data: transferCall(to, amount),
  }
}

function parseAddress({ family }: SignerChain, text: string): string | null {
  const bytes = family === 'tron' ? bytesFromTronAddress(text) : bytesFromEvmHex(text)
  return bytes === null ? null : bytesToHex(bytes)
}

function transferOf(record: IntentRecord): SignedTransfer {
  const { txid, raw, signature, expires_at_ms, nonce } = record
  return { txid, raw, signature, expires_at_ms, nonce }
}
