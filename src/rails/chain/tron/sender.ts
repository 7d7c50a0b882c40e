import { bytesToHex, hexToBytes } from '@noble/hashes/utils.js'
import type { Chain } from '#rails/chain/chain.ts'
import type { ChainSender, Payment, StoredTransfer, TransferFate } from '#rails/chain/sender.ts'
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

/** What a transfer to an address without the asset costs; for nodes that do not estimate. */
const ENERGY_STANDARD = 130_285n

/** The dynamic energy model may raise the price between the estimate and the block. */
const ENERGY_MARGIN_PERCENT = 130n
/** About 345 bytes at 1,000 sun, for an address that has used up its free ones. */
const BANDWIDTH_SUN = 500_000n
const FEE_LIMIT_MAX_SUN = 50_000_000n

/** Nodes behind one name do not see a block at the same moment. */
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
    // A transfer that is too cheap fails and does not wait; one that is lost expires.
    replacementParameters: async () => null,
    missingFuel: async (payment) => {
      const needed = (await feeLimit(api, payment)) + BANDWIDTH_SUN
      const has = (await api.balance(hexToBytes(payment.from), 'head')) ?? 0n
      return has >= needed ? 0n : needed - has
    },
    broadcast: ({ txid, raw, signature }) =>
      api.broadcast({ txid, raw: hexToBytes(raw), signature }),
    lookup: (transfer) => findFate(api, transfer),
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
 * Dead only if final chain time had passed its expiration before we looked and found it in no final
 * block: later blocks cannot take it any more, and earlier ones are all known.
 */
async function findFate(api: TronHttpApi, transfer: StoredTransfer): Promise<TransferFate> {
  const { timestamp_ms } = await api.now('solid')
  const final = await api.receipt(transfer.txid, 'solid')
  if (final !== null) return seen('final', transfer, final)
  const mined = await api.receipt(transfer.txid, 'head')
  if (mined !== null) return seen('mined', transfer, mined)
  const expires_ms = transfer.expires_at?.getTime() ?? Number.POSITIVE_INFINITY
  return { fate: timestamp_ms > expires_ms + DEAD_MARGIN_MS ? 'dead' : 'unknown' }
}

function seen(
  fate: 'mined' | 'final',
  transfer: StoredTransfer,
  receipt: TronReceipt,
): TransferFate {
  const ok = receipt.ok && hasMovedAmount(transfer, receipt)
  return { fate, ok, block_number: receipt.block_number }
}

/** Success of a call is not enough: the asset itself must say that it moved the amount. */
function hasMovedAmount({ raw }: StoredTransfer, { logs }: TronReceipt): boolean {
  const content = readRawBytes(hexToBytes(raw))
  if (content?.contract.type !== 'TriggerSmartContract') return true
  const { contract, data } = content.contract
  const asked = readTransferCall(data)
  if (asked === null) return false
  return logs.some(
    ({ address, topics, data: value }) =>
      bytesToHex(address) === bytesToHex(contract) &&
      topics[0] === TRANSFER_TOPIC &&
      topics[2]?.slice(24) === bytesToHex(asked.to) &&
      value.length === 32 &&
      readNumberWord(value) === asked.amount,
  )
}
