import { decodeFunctionData, encodeFunctionResult, type Hex, parseAbi } from 'viem'
import type { EvmChain } from './chain.ts'
import { Reverted } from './coin.ts'

/** Where Multicall3 is on every chain: x402 asks it why a payment would fail. */
export const MULTICALL: Hex = '0xcA11bde05977b3631167028862bE2a173976CA11'

const multicall_abi = parseAbi([
  'struct Call { address target; bytes callData; }',
  'struct Result { bool success; bytes returnData; }',
  'function tryAggregate(bool requireSuccess, Call[] calls) returns (Result[] returnData)',
])

/** Reads only, so what one call would have changed the next one does not see. */
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
