import { hexToBytes } from '@noble/hashes/utils.js'
import type { NodeFetch } from '#platform/node_fetch.ts'
import type { Chain } from './chain.ts'
import { jsonRpc, quantityOf } from './json_rpc.ts'
import { addressWord, BALANCE_FUNCTION, selectorOf } from './tron/trc20.ts'

/** What an address holds of an asset, as the chain's node says now. */
export type Custody = (contract: string, address: string) => Promise<bigint>

export function custodyOn({ settings }: Chain, fetch: NodeFetch): Custody {
  const { url, headers, family } = settings
  const rpc = jsonRpc({ url, headers: { ...headers }, fetch }, family === 'tron' ? 'jsonrpc' : '')
  const selector = selectorOf(BALANCE_FUNCTION)
  return async (contract, address) => {
    const word = Buffer.from(addressWord(hexToBytes(address))).toString('hex')
    const call = { to: `0x${contract}`, data: `0x${selector}${word}` }
    return quantityOf(await rpc('eth_call', [call, 'latest']), 'a balance')
  }
}
