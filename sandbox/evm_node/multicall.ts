import { decodeFunctionData, encodeFunctionResult, type Hex, parseAbi } from 'viem'
import type { EvmChain } from './chain.ts'
import { Reverted } from './coin.ts'

/** Multicall3's address on every chain; the x402 library uses it to explain failed payments. */
export const MULTICALL: Hex = '0xcA11bde05977b3631167028862bE2a173976CA11'

const multicall_abi = parseAbi([
  'struct Call { address target; bytes callData; }',
  'struct Result { bool success; bytes returnData; }',
  'function tryAggregate(bool requireSuccess, Call[] calls) returns (Result[] returnData)',
])

/** Read-only: the calls do not see each other's changes. */
export async function aggregate(chain: EvmChain, from: Hex, data: Hex): Promise<Hex> {
  const { args } = decodeFunctionData({ abi: multicall_abi, data })
  const result: { success: boolean; returnData: Hex }[] = []
  for (const { callData } of args[1]) {
    try {
      const { returned } = await chain.call(from, callData)
      result.push({ success: true, returnData: returned })
    } catch (cause) {
      if (!(cause instanceof Reverted)) throw cause
      result.push({ success: false, returnData: '0x' })
    }
  }
  return encodeFunctionResult({ abi: multicall_abi, functionName: 'tryAggregate', result })
}
