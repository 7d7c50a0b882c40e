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
import { jsonRpc, RpcError } from '#rails/chain/json_rpc.ts'
import type { SignedTransaction, StoreSigned } from './facilitator.ts'
import { type PaymentNetwork, type Receipt, sameAddress } from './receipt.ts'
import { CHAIN_ID, USDC } from './requirement.ts'

const asset_abi = parseAbi([
  'function transfer(address to, uint256 value) returns (bool)',
  'function authorizationState(address authorizer, bytes32 nonce) view returns (bool)',
  'event AuthorizationUsed(address indexed authorizer, bytes32 indexed nonce)',
  'event AuthorizationCanceled(address indexed authorizer, bytes32 indexed nonce)',
  'event Transfer(address indexed from, address indexed to, uint256 value)',
])

/** The network with the viem client that the x402 library needs. */
export type PaymentNetworkClient = PaymentNetwork & { client: PublicClient }

export function paymentNetwork(url: string, fetch: NodeFetch): PaymentNetworkClient {
  const rpc = jsonRpc({ url, fetch }, '')
  let chain_checked: Promise<void> | null = null
  const requireChain = async () => {
    const id = Number(await rpc('eth_chainId', []))
    if (id !== CHAIN_ID) throw new Error(`the payment node is on chain ${id}, not ${CHAIN_ID}`)
  }
  const transport = custom({
    request: async ({ method, params }) => {
      chain_checked ??= requireChain().catch((cause) => {
        chain_checked = null
        throw cause
      })
      await chain_checked
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
    settlementOf: (payer, nonce, since) =>
      findSettlement(client, { authorizer: payer as Hex, nonce: nonce as Hex }, since),
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
        // Already sent, or the nonce is taken; the receipts show which.
        if (!(cause instanceof RpcError && KNOWN.test(cause.message))) throw cause
      }
    },
  }
}

type Authorization = { authorizer: Hex; nonce: Hex }

/** The state of an authorization never expires, unlike the blocks that a single search covers. */
async function findSettlement(
  client: PublicClient,
  authorization: Authorization,
  since: Date,
): Promise<Hex | null> {
  const { authorizer, nonce } = authorization
  const isUsed = await client.readContract({
    address: USDC,
    abi: asset_abi,
    functionName: 'authorizationState',
    args: [authorizer, nonce],
  })
  if (!isUsed) return null
  const head = await client.getBlock()
  const age_ms = Math.max(0, Number(head.timestamp) * 1_000 - since.getTime()) + DAY_MS
  const first = head.number - BigInt(Math.ceil(age_ms / BLOCK_MS))
  const blocks = { first: first > 0n ? first : 0n, last: head.number }
  const txid =
    (await findEvent(client, { eventName: 'AuthorizationUsed', authorization, blocks })) ??
    (await findEvent(client, { eventName: 'AuthorizationCanceled', authorization, blocks }))
  if (txid !== null) return txid
  throw new Error(`the node does not show which transaction used ${nonce} of ${authorizer}`)
}

type EventSearch = {
  eventName: 'AuthorizationUsed' | 'AuthorizationCanceled'
  authorization: Authorization
  blocks: { first: bigint; last: bigint }
}

/** The newest blocks come first, because most authorizations were used seconds ago. */
async function findEvent(
  client: PublicClient,
  { eventName, authorization: args, blocks: { first, last } }: EventSearch,
): Promise<Hex | null> {
  for (let toBlock = last; toBlock >= first; toBlock -= BLOCKS_PER_SEARCH) {
    const start = toBlock - BLOCKS_PER_SEARCH + 1n
    const fromBlock = start > first ? start : first
    const filter = { address: USDC, abi: asset_abi, eventName, args, fromBlock, toBlock } as const
    const [log] = await client.getContractEvents(filter)
    if (log !== undefined) return log.transactionHash
  }
  return null
}

/** Rollups return their L1 fee in a separate field. */
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
/** The time between two blocks of Base. */
const BLOCK_MS = 2_000
const DAY_MS = 24 * 60 * 60_000
/** An hour on Base. Public nodes allow this range in one request. */
const BLOCKS_PER_SEARCH = 1_800n
/** The base fee can double in six full blocks; the unused part is not charged. */
const FEE_MARGIN = 3
const GAS_MARGIN_PERCENT = 130n
const KNOWN = /already known|known transaction|already imported|nonce.*too low|correct nonce/i

/** Signs calls of the USDC contract with the only chain key that the service has. */
export type Relayer = {
  address: Hex
  network: PaymentNetworkClient
  /** Signs, stores and sends a call. Returns its txid. */
  relay(data: Hex, storeSigned: StoreSigned, onSent: () => void): Promise<Hex>
  refund(to: string, amount: bigint, storeSigned: StoreSigned): Promise<Hex>
}

export function makeRelayer(network: PaymentNetworkClient, key: Secret<string>): Relayer {
  const account = privateKeyToAccount(key.open() as Hex)
  const { client } = network
  const relay: Relayer['relay'] = async (data, storeSigned, onSent) => {
    const call = { account: account.address, to: USDC, data } as const
    const [gas, fees, mined] = await Promise.all([
      client.estimateGas(call),
      client.estimateFeesPerGas(),
      client.getTransactionCount({ address: account.address, blockTag: 'latest' }),
    ])
    const sign = async (nonce: bigint): Promise<SignedTransaction> => {
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
    const { txid, raw } = await storeSigned(account.address, BigInt(mined), sign)
    // A failure does not matter: a task sends stored transactions until they are mined.
    await network.broadcast(raw).catch(() => undefined)
    onSent()
    return txid as Hex
  }
  return {
    address: account.address,
    network,
    relay,
    refund: (to, amount, storeSigned) => {
      const args = [to as Hex, amount] as const
      const data = encodeFunctionData({ abi: asset_abi, functionName: 'transfer', args })
      return relay(data, storeSigned, () => undefined)
    },
  }
}

export function readRelayerKey(path: string): Secret<string> {
  const text = readFileSync(path, 'utf8').trim()
  const key = text.startsWith('0x') ? text : `0x${text}`
  if (!/^0x[0-9a-fA-F]{64}$/.test(key)) throw new Error(`${path} does not contain a private key`)
  return new Secret(key)
}
