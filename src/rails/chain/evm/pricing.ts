import { bytesToHex, hexToBytes } from '@noble/hashes/utils.js'
import type { Chain } from '#rails/chain/chain.ts'
import { isRefusal, type JsonRpc, quantity, quantityOf } from '#rails/chain/json_rpc.ts'
import { type Payment, TransferRefused } from '#rails/chain/sender.ts'
import { transferCall } from '#rails/chain/tron/trc20.ts'
import type { EvmNetworkParameters } from '#rails/signer/intent.ts'
import type { RawTransfer } from './raw_transfer.ts'

/** The estimate is for the previous block; a recipient's first coins cost more gas. */
const GAS_MARGIN_PERCENT = 130n

/** The base fee can double in six full blocks; a transfer at twice the price stays valid. */
const FEE_MARGIN = 2n
const PRIORITY_WEI = 1_500_000_000n

/** Nodes accept a replacement with 10 % more in both fees; 12.5 % is safe. */
const RAISE_PERMILLE = 1_125n

/** Rollups charge an L1 data fee from the same balance. */
const SPENDABLE_PERCENT = 80n

type Price = Pick<EvmNetworkParameters, 'gas' | 'max_fee_per_gas' | 'max_priority_fee_per_gas'>
type Fees = { max_fee_per_gas: bigint; max_priority_fee_per_gas: bigint }

/** Computes gas and fees. A deposit address can spend only the native coin it was sent. */
export function evmPricing(rpc: JsonRpc, { hot_wallet }: Pick<Chain, 'hot_wallet'>) {
  const affordable = async ({ from }: Payment, gas: bigint): Promise<bigint | null> =>
    from === hot_wallet ? null : ((await balanceOf(rpc, from)) * SPENDABLE_PERCENT) / 100n / gas
  return {
    priceOf: async (payment: Payment): Promise<Price> => {
      const gas = await estimateGas(rpc, payment)
      const fees = feesAt((await gasPrice(rpc)) * FEE_MARGIN)
      return toPrice(gas, capFees(fees, await affordable(payment, gas)))
    },
    /** Null if the sender cannot pay enough for a replacement. */
    priceAbove: async (payment: Payment, last: RawTransfer): Promise<Price | null> => {
      const raised = {
        max_fee_per_gas: raise(last.max_fee_per_gas),
        max_priority_fee_per_gas: raise(last.max_priority_fee_per_gas),
      }
      const today = feesAt((await gasPrice(rpc)) * FEE_MARGIN)
      const most = await affordable(payment, last.gas)
      const fees = capFees(
        {
          max_fee_per_gas: max(raised.max_fee_per_gas, today.max_fee_per_gas),
          max_priority_fee_per_gas: max(
            raised.max_priority_fee_per_gas,
            today.max_priority_fee_per_gas,
          ),
        },
        most,
      )
      const is_enough =
        fees.max_fee_per_gas >= raised.max_fee_per_gas &&
        fees.max_priority_fee_per_gas >= raised.max_priority_fee_per_gas
      return is_enough ? toPrice(last.gas, fees) : null
    },
    missingFuel: async (payment: Payment): Promise<bigint> => {
      const gas = await estimateGas(rpc, payment)
      const price = await gasPrice(rpc)
      const has = await balanceOf(rpc, payment.from)
      // The current price without a margin is enough: earlier fuel included one.
      if (has * SPENDABLE_PERCENT >= gas * price * 100n) return 0n
      return (gas * price * FEE_MARGIN * 100n) / SPENDABLE_PERCENT - has
    },
  }
}

const max = (a: bigint, b: bigint): bigint => (a > b ? a : b)
const min = (a: bigint, b: bigint): bigint => (a < b ? a : b)
const raise = (wei: bigint): bigint => (wei * RAISE_PERMILLE) / 1_000n + 1n

const feesAt = (max_fee_per_gas: bigint): Fees => ({
  max_fee_per_gas,
  max_priority_fee_per_gas: min(max_fee_per_gas, PRIORITY_WEI),
})

function capFees(fees: Fees, most: bigint | null): Fees {
  const max_fee_per_gas = most === null ? fees.max_fee_per_gas : min(fees.max_fee_per_gas, most)
  const { max_priority_fee_per_gas } = fees
  return {
    max_fee_per_gas,
    max_priority_fee_per_gas: min(max_priority_fee_per_gas, max_fee_per_gas),
  }
}

const toPrice = (gas: bigint, fees: Fees): Price => ({
  gas: gas.toString(),
  max_fee_per_gas: fees.max_fee_per_gas.toString(),
  max_priority_fee_per_gas: fees.max_priority_fee_per_gas.toString(),
})

async function gasPrice(rpc: JsonRpc): Promise<bigint> {
  return quantityOf(await rpc('eth_gasPrice', []), 'a price')
}

async function balanceOf(rpc: JsonRpc, address: string): Promise<bigint> {
  return quantityOf(await rpc('eth_getBalance', [`0x${address}`, 'latest']), 'a balance')
}

async function estimateGas(rpc: JsonRpc, { from, to, contract, amount }: Payment): Promise<bigint> {
  const data = bytesToHex(transferCall(hexToBytes(to), amount))
  const call =
    contract === null
      ? { to: `0x${to}`, value: quantity(amount) }
      : { to: `0x${contract}`, data: `0x${data}` }
  const gas = await rpc('eth_estimateGas', [{ from: `0x${from}`, ...call }]).catch(refuse)
  return (quantityOf(gas, 'an estimate') * GAS_MARGIN_PERCENT) / 100n
}

/** An estimate runs the transfer. Some nodes report that it fails with a status of their own. */
function refuse(cause: unknown): never {
  throw isRefusal(cause) ? new TransferRefused(cause.message, { cause }) : cause
}
