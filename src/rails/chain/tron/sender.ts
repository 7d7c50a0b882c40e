import { bytesToHex, hexToBytes } from '@noble/hashes/utils.js'
import type { Chain } from '#rails/chain/chain.ts'
import { solidCustody } from '#rails/chain/custody.ts'
import type {
  ChainSender,
  LookupOutcome,
  Payment,
  StoredTransfer,
  TransferResult,
} from '#rails/chain/sender.ts'
import type { TronHttpApi } from './http_api.ts'
import type { TronReceipt } from './http_responses.ts'
import { readRawBytes } from './transaction.ts'
import {
  readNumberWord,
  readTransferCall,
  TRANSFER_FUNCTION,
  TRANSFER_TOPIC,
  transferParameter,
} from './trc20.ts'

/** The energy of a transfer to an address without the asset; for nodes without estimates. */
const ENERGY_STANDARD = 130_285n

/** The dynamic energy model may raise the price between the estimate and the block. */
const ENERGY_MARGIN_PERCENT = 130n
/** About 345 bytes at 1,000 sun, for an address without free bandwidth. */
const BANDWIDTH_SUN = 500_000n
const FEE_LIMIT_MAX_SUN = 50_000_000n

/** Nodes behind a load balancer do not see a block at the same time. */
const DEAD_MARGIN_MS = 15_000

export function tronSender(chain: Chain, api: TronHttpApi): ChainSender {
  return {
    chain,
    networkParameters: async (payment) => {
      const { number, id } = await api.now('solid')
      const fee_limit_sun = payment.contract === null ? 0n : await feeLimit(api, payment)
      return {
        family: 'tron',
        reference: { number, id },
        fee_limit_sun: fee_limit_sun.toString(),
      }
    },
    // TRON transfers never wait for a higher fee: they fail or expire.
    replacementParameters: async () => null,
    missingFuel: async (payment) => {
      const required = (await feeLimit(api, payment)) + BANDWIDTH_SUN
      const balance = (await api.balance(hexToBytes(payment.from), 'head')) ?? 0n
      return balance >= required ? 0n : required - balance
    },
    assetBalance: ({ contract, from }) => solidCustody(api)(contract ?? '', from),
    broadcast: ({ txid, raw, signature }) =>
      api.broadcast({ txid, raw: hexToBytes(raw), signature }),
    lookup: (transfer) => findOutcome(api, transfer),
    findNonceUser: async () => null,
  }
}

async function feeLimit(api: TronHttpApi, payment: Payment): Promise<bigint> {
  const energy = await api.estimateEnergy({
    owner: hexToBytes(payment.from),
    contract: hexToBytes(payment.contract ?? ''),
    function: TRANSFER_FUNCTION,
    parameter: transferParameter(hexToBytes(payment.to), payment.amount),
  })
  const { energy_sun } = await api.fees()
  const limit = ((energy ?? ENERGY_STANDARD) * energy_sun * ENERGY_MARGIN_PERCENT) / 100n
  return limit < FEE_LIMIT_MAX_SUN ? limit : FEE_LIMIT_MAX_SUN
}

/**
 * A transfer is dead if solidified chain time was past its expiration before we searched and it was
 * in no block: later blocks cannot include it, and earlier ones are known.
 */
async function findOutcome(api: TronHttpApi, transfer: StoredTransfer): Promise<LookupOutcome> {
  const { timestamp_ms } = await api.now('solid')
  const final = await api.receipt(transfer.txid, 'solid')
  if (final !== null) return seen('final', transfer, final)
  const mined = await api.receipt(transfer.txid, 'head')
  if (mined !== null) return seen('mined', transfer, mined)
  const expires_ms = transfer.expires_at?.getTime() ?? Number.POSITIVE_INFINITY
  return { outcome: timestamp_ms > expires_ms + DEAD_MARGIN_MS ? 'dead' : 'unknown' }
}

function seen(
  outcome: 'mined' | 'final',
  transfer: StoredTransfer,
  receipt: TronReceipt,
): LookupOutcome {
  return { outcome, result: resultOf(transfer, receipt), block_number: receipt.block_number }
}

function resultOf(transfer: StoredTransfer, receipt: TronReceipt): TransferResult {
  if (receipt.is_reverted) return 'reverted'
  return receipt.ok && hasMovedAmount(transfer, receipt) ? 'success' : 'mismatch'
}

/** A successful status is not enough: the contract must have emitted the exact Transfer. */
function hasMovedAmount({ raw }: StoredTransfer, { logs }: TronReceipt): boolean {
  const content = readRawBytes(hexToBytes(raw))
  if (content?.contract.type !== 'TriggerSmartContract') return true
  const { contract, data } = content.contract
  const transfer = readTransferCall(data)
  if (transfer === null) return false
  return logs.some(
    ({ address, topics, data: value }) =>
      bytesToHex(address) === bytesToHex(contract) &&
      topics[0] === TRANSFER_TOPIC &&
      topics[2]?.slice(24) === bytesToHex(transfer.to) &&
      value.length === 32 &&
      readNumberWord(value) === transfer.amount,
  )
}
