import { readFileSync } from 'node:fs'
import {
  createPublicClient,
  custom,
  encodeFunctionData,
  type Hex,
  keccak256,
  type PublicClient,
  parseAbi,
  parseEventLogs,
  type TransactionReceipt,
  TransactionReceiptNotFoundError,
} from 'viem'
import { privateKeyToAccount } from 'viem/accounts'
import { base } from 'viem/chains'
import { Secret } from '#kernel/secret.ts'
import type { NodeFetch } from '#platform/http_client/node_fetch.ts'
import { jsonRpc, RpcRefusal } from '#rails/chain/json_rpc.ts'
import type { Signed, StoreSigned } from './facilitator.ts'
import { type PaymentNetwork, type Receipt, sameAddress } from './receipt.ts'
import { CHAIN_ID, USDC } from './requirement.ts'

const asset_abi = parseAbi([
  'function transfer(address to, uint256 value) returns (bool)',
  'event AuthorizationUsed(address indexed authorizer, bytes32 indexed nonce)',
  'event Transfer(address indexed from, address indexed to, uint256 value)',
])

/** The network with the client that x402's own rules ask it through. */
export type OpenNetwork = PaymentNetwork & { client: PublicClient }

export function paymentNetwork(url: string, fetch: NodeFetch): OpenNetwork {
  const rpc = jsonRpc({ url, fetch }, '')
  let isOurs: Promise<void> | null = null
  const requireOurs = async () => {
    const id = Number(await rpc('eth_chainId', []))
    if (id !== CHAIN_ID) throw new Error(`the payment node is of chain ${id}, not ${CHAIN_ID}`)
  }
  const transport = custom({
    request: async ({ method, params }) => {
      isOurs ??= requireOurs().catch((cause) => {
        isOurs = null
        throw cause
      })
      await isOurs
      return rpc(method, params ?? [])
    },
  })
  const client = createPublicClient({
    chain: { ...base, fees: { baseFeeMultiplier: FEE_MARGIN } },
    transport,
    pollingInterval: POLLING_MS,
    cacheTime: 0,
  }) as PublicClient
  return {
    client,
    settlementOf: async (payer, nonce) => {
      const head = await client.getBlockNumber()
      const [log] = await client.getContractEvents({
        address: USDC,
        abi: asset_abi,
        eventName: 'AuthorizationUsed',
        args: { authorizer: payer as Hex, nonce: nonce as Hex },
        fromBlock: head > BLOCKS_LOOKED_AT ? head - BLOCKS_LOOKED_AT : 0n,
        toBlock: head,
      })
      return log?.transactionHash ?? null
    },
    receipt: async (txid) => {
      try {
        return receiptFrom(await client.getTransactionReceipt({ hash: txid as Hex }))
      } catch (cause) {
        if (cause instanceof TransactionReceiptNotFoundError) return null
        throw cause
      }
    },
    broadcast: async (raw) => {
      try {
        await rpc('eth_sendRawTransaction', [raw])
      } catch (cause) {
        // It is there already, or its place is taken: the receipts tell which.
        if (!(cause instanceof RpcRefusal && KNOWN.test(cause.message))) throw cause
      }
    },
  }
}

/** Rollups charge for the chain below them as well, in a field of their own. */
function receiptFrom(receipt: TransactionReceipt): Receipt {
  const { l1Fee } = receipt as { l1Fee?: bigint | null }
  const logs = receipt.logs.filter(({ address }) => sameAddress(address, USDC))
  const transfers = parseEventLogs({ abi: asset_abi, eventName: 'Transfer', logs })
  return {
    txid: receipt.transactionHash,
    ok: receipt.status === 'success',
    fee_wei: receipt.gasUsed * receipt.effectiveGasPrice + (l1Fee ?? 0n),
    transfers: transfers.map(({ args }) => args),
  }
}

const POLLING_MS = 250
/** An hour on Base, within what public nodes answer at once; a permission is good for minutes. */
const BLOCKS_LOOKED_AT = 1_800n
/** A base fee may double in six full blocks; what is not needed is not paid. */
const FEE_MARGIN = 3
const GAS_MARGIN_PERCENT = 130n
const KNOWN = /already known|known transaction|already imported|nonce.*too low|correct nonce/i

/** Signs with the one key the service has, for calls of one contract and nothing else. */
export type Relayer = {
  address: Hex
  network: OpenNetwork
  /** Signs, stores and sends; answers with what it is known by. */
  relay(data: Hex, store: StoreSigned, sent: () => void): Promise<Hex>
  refund(to: string, amount: bigint, store: StoreSigned): Promise<Hex>
}

export function makeRelayer(network: OpenNetwork, key: Secret<string>): Relayer {
  const account = privateKeyToAccount(key.open() as Hex)
  const { client } = network
  const relay: Relayer['relay'] = async (data, store, sent) => {
    const call = { account: account.address, to: USDC, data } as const
    const [gas, fees, mined] = await Promise.all([
      client.estimateGas(call),
      client.estimateFeesPerGas(),
      client.getTransactionCount({ address: account.address, blockTag: 'latest' }),
    ])
    const sign = async (nonce: bigint): Promise<Signed> => {
      const raw = await account.signTransaction({
        chainId: CHAIN_ID,
        type: 'eip1559',
        to: USDC,
        data,
        nonce: Number(nonce),
        gas: (gas * GAS_MARGIN_PERCENT) / 100n,
        maxFeePerGas: fees.maxFeePerGas,
        maxPriorityFeePerGas: fees.maxPriorityFeePerGas,
      })
      return { nonce, raw, txid: keccak256(raw) }
    }
    const { txid, raw } = await store(account.address, BigInt(mined), sign)
    // Lost on the way or not, it is stored: a task sends it until it is mined.
    await network.broadcast(raw).catch(() => undefined)
    sent()
    return txid as Hex
  }
  return {
    address: account.address,
    network,
    relay,
    refund: (to, amount, store) => {
      const args = [to as Hex, amount] as const
      const data = encodeFunctionData({ abi: asset_abi, functionName: 'transfer', args })
      return relay(data, store, () => undefined)
    },
  }
}

export function readRelayerKey(path: string): Secret<string> {
  const text = readFileSync(path, 'utf8').trim()
  const key = text.startsWith('0x') ? text : `0x${text}`
  if (!/^0x[0-9a-fA-F]{64}$/.test(key)) throw new Error(`${path} holds no private key`)
  return new Secret(key)
}
