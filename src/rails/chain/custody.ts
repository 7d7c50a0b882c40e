import { hexToBytes } from '@noble/hashes/utils.js'
import type { NodeFetch } from '#platform/http_client/node_fetch.ts'
import type { ChainSettings } from './chain_settings.ts'
import { depositSource } from './deposit_source.ts'
import { jsonRpc, quantity, quantityOf } from './json_rpc.ts'
import { NodeError } from './node_call.ts'
import { type TronHttpApi, tronHttpApi } from './tron/http_api.ts'
import { addressWord, BALANCE_FUNCTION, readNumberWord, selectorOf } from './tron/trc20.ts'

/** Reads an address's balance of an asset from the chain's node. */
export type Custody = (contract: string, address: string) => Promise<bigint>

type Node = Pick<ChainSettings, 'url' | 'headers' | 'family'>

export function custodyOn(
  { url, headers, family }: Node,
  fetch: NodeFetch,
  block = 'latest',
): Custody {
  const rpc = jsonRpc({ url, headers: { ...headers }, fetch }, family === 'tron' ? 'jsonrpc' : '')
  const selector = selectorOf(BALANCE_FUNCTION)
  return async (contract, address) => {
    const word = Buffer.from(addressWord(hexToBytes(address))).toString('hex')
    const call = { to: `0x${contract}`, data: `0x${selector}${word}` }
    return quantityOf(await rpc('eth_call', [call, block]), 'a balance')
  }
}

/** Balances at the last final block, like the books. TRON has them only in its HTTP API. */
export async function finalCustodyOn(settings: ChainSettings, fetch: NodeFetch): Promise<Custody> {
  const { url, headers, family } = settings
  if (family === 'tron') return solidCustody(tronHttpApi({ url, headers: { ...headers }, fetch }))
  const { number } = await depositSource(settings, fetch).finalized()
  return custodyOn(settings, fetch, quantity(number))
}

export function solidCustody(api: TronHttpApi): Custody {
  return async (contract, address) => {
    const owner = hexToBytes(address)
    const call = {
      owner,
      contract: hexToBytes(contract),
      function: BALANCE_FUNCTION,
      parameter: addressWord(owner),
    }
    const { ok, returned } = await api.call(call, 'solid')
    if (ok && returned.length === 32) return readNumberWord(returned)
    throw new NodeError('bad_answer', 'the chain node returned no balance')
  }
}
