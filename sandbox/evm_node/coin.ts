import {
  decodeFunctionData,
  encodeEventTopics,
  encodeFunctionResult,
  type Hex,
  isAddressEqual,
  numberToHex,
  parseAbi,
  recoverTypedDataAddress,
  serializeSignature,
} from 'viem'
import { CHAIN_ID, USDC } from '#rails/x402/requirement.ts'
import type { EvmState } from './evm_state.ts'

/** The signed EIP-3009 authorization. */
const authorization = [
  { name: 'from', type: 'address' },
  { name: 'to', type: 'address' },
  { name: 'value', type: 'uint256' },
  { name: 'validAfter', type: 'uint256' },
  { name: 'validBefore', type: 'uint256' },
  { name: 'nonce', type: 'bytes32' },
] as const

const taking = {
  type: 'function',
  name: 'transferWithAuthorization',
  stateMutability: 'nonpayable',
  outputs: [],
} as const

const plain_abi = parseAbi([
  'function name() view returns (string)',
  'function symbol() view returns (string)',
  'function version() view returns (string)',
  'function decimals() view returns (uint8)',
  'function balanceOf(address owner) view returns (uint256)',
  'function authorizationState(address authorizer, bytes32 nonce) view returns (bool)',
  'function transfer(address to, uint256 value) returns (bool)',
  'event Transfer(address indexed from, address indexed to, uint256 value)',
  'event AuthorizationUsed(address indexed authorizer, bytes32 indexed nonce)',
])

/** The simulated USDC contract: balances and EIP-3009 transfers. */
export const coin_abi = [
  ...plain_abi,
  {
    ...taking,
    inputs: [
      ...authorization,
      { name: 'v', type: 'uint8' },
      { name: 'r', type: 'bytes32' },
      { name: 's', type: 'bytes32' },
    ],
  },
  { ...taking, inputs: [...authorization, { name: 'signature', type: 'bytes' }] },
] as const

const DOMAIN = {
  name: 'USD Coin',
  version: '2',
  chainId: CHAIN_ID,
  verifyingContract: USDC,
} as const

const authorization_types = { TransferWithAuthorization: authorization } as const

export class Reverted extends Error {}

export type Log = { address: Hex; topics: Hex[]; data: Hex }
export type CallResult = { returned: Hex; logs: Log[]; apply(state: EvmState): void }
type Caller = { from: Hex; time_s: bigint }

const nothing = () => undefined

const require = (holds: boolean, reason: string): void => {
  if (!holds) throw new Reverted(reason)
}

/** Computes the result of a call without applying it. */
export async function callCoin(state: EvmState, caller: Caller, data: Hex): Promise<CallResult> {
  const call = decodeCall(data)
  const answer = (result: unknown): CallResult => ({
    returned: encodeFunctionResult({
      abi: coin_abi,
      functionName: call.functionName,
      result,
    } as never),
    logs: [],
    apply: nothing,
  })
  switch (call.functionName) {
    case 'name':
      return answer(DOMAIN.name)
    case 'symbol':
      return answer('USDC')
    case 'version':
      return answer(DOMAIN.version)
    case 'decimals':
      return answer(6)
    case 'balanceOf':
      return answer(state.coinsOf(call.args[0]))
    case 'authorizationState':
      return answer(state.isUsed(call.args[0], call.args[1]))
    case 'transfer':
      return {
        ...transferCoins(state, { from: caller.from, to: call.args[0], value: call.args[1] }),
      }
    case 'transferWithAuthorization':
      return transferWithAuthorization(state, caller, call.args)
  }
}

function decodeCall(data: Hex) {
  try {
    return decodeFunctionData({ abi: coin_abi, data })
  } catch {
    throw new Reverted(`there is no function ${data.slice(0, 10)}`)
  }
}

type CoinTransfer = { from: Hex; to: Hex; value: bigint }

function transferCoins(state: EvmState, { from, to, value }: CoinTransfer): CallResult {
  require(state.coinsOf(from) >= value, 'ERC20: transfer amount exceeds balance')
  const topics = encodeEventTopics({ abi: coin_abi, eventName: 'Transfer', args: { from, to } })
  return {
    returned: numberToHex(1n, { size: 32 }),
    logs: [{ address: USDC, topics: topics as Hex[], data: numberToHex(value, { size: 32 }) }],
    apply: (changed) => {
      changed.addCoins(from, -value)
      changed.addCoins(to, value)
    },
  }
}

type Signature = readonly [Hex] | readonly [number, Hex, Hex]

async function transferWithAuthorization(
  state: EvmState,
  { time_s }: Caller,
  args: readonly [Hex, Hex, bigint, bigint, bigint, Hex, ...Signature],
): Promise<CallResult> {
  const [from, to, value, validAfter, validBefore, nonce, ...signature] = args
  require(time_s > validAfter, 'FiatTokenV2: authorization is not yet valid')
  require(time_s < validBefore, 'FiatTokenV2: authorization is expired')
  require(!state.isUsed(from, nonce), 'FiatTokenV2: authorization is used or canceled')
  const signed = signatureIn(signature)
  // Like USDC's ECRecover, accepts only the signature with the low s.
  require(sOf(signed) <= HALF_ORDER, "ECRecover: invalid signature 's' value")
  const signer = await recoverTypedDataAddress({
    domain: DOMAIN,
    types: authorization_types,
    primaryType: 'TransferWithAuthorization',
    message: { from, to, value, validAfter, validBefore, nonce },
    signature: signed,
  }).catch(() => null)
  require(signer !== null && isAddressEqual(signer, from), 'FiatTokenV2: invalid signature')
  const { logs, apply } = transferCoins(state, { from, to, value })
  const topics = encodeEventTopics({
    abi: coin_abi,
    eventName: 'AuthorizationUsed',
    args: { authorizer: from, nonce },
  })
  return {
    returned: '0x',
    logs: [{ address: USDC, topics: topics as Hex[], data: '0x' }, ...logs],
    apply: (changed) => {
      changed.useAuthorization(from, nonce)
      apply(changed)
    },
  }
}

const HALF_ORDER = 0x7fffffffffffffffffffffffffffffff5d576e7357a4501ddfe92f46681b20a0n

const sOf = (signature: Hex): bigint => BigInt(`0x${signature.slice(66, 130) || '0'}`)

function signatureIn(signature: Signature): Hex {
  if (signature.length === 1) return signature[0]
  const [v, r, s] = signature
  return serializeSignature({ r, s, yParity: v % 27 })
}
