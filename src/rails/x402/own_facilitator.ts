import { ExactEvmScheme } from '@x402/evm/exact/facilitator'
import { concatHex, encodeFunctionData, type Hex } from 'viem'
import type { Facilitator, SettlementHooks } from './facilitator.ts'
import type { Relayer } from './relayer.ts'
import { requirementOf } from './requirement.ts'

type Signer = ConstructorParameters<typeof ExactEvmScheme>[0]

/** A few blocks: the client waits for its response that long. */
const RECEIPT_TIMEOUT_MS = 20_000
const PENDING = 'settlement_pending'

/** The x402 library's exact scheme, with our relayer as its signer. */
export function ownFacilitator(relayer: Relayer): Facilitator {
  return {
    verify: async ({ payload }, priced) => {
      // The scheme reports an unreachable node as an invalid signature, so check the node first.
      await relayer.network.client.getBlockNumber()
      const scheme = new ExactEvmScheme(signerFor(relayer, null))
      const { isValid, invalidReason } = await scheme.verify(payload, requirementOf(priced))
      return isValid ? null : (invalidReason ?? 'invalid')
    },
    settle: async ({ payload }, priced, hooks) => {
      const scheme = new ExactEvmScheme(signerFor(relayer, hooks))
      const response = await scheme.settle(payload, requirementOf(priced))
      if (response.success) return { outcome: 'settled', txid: response.transaction }
      if (response.errorReason === PENDING) return { outcome: 'pending' }
      return { outcome: 'failed', reason: response.errorReason ?? 'settlement_failed' }
    },
  }
}

/** One per payment: each signed transaction is stored with its payment before it is sent. */
function signerFor(relayer: Relayer, hooks: SettlementHooks | null): Signer {
  const { client } = relayer.network
  return {
    getAddresses: () => [relayer.address],
    readContract: (args) => client.readContract({ ...args, account: relayer.address } as never),
    verifyTypedData: (args) => client.verifyTypedData(args as never),
    getCode: (args) => client.getCode(args),
    waitForTransactionReceipt: ({ hash }) =>
      client.waitForTransactionReceipt({ hash, timeout: RECEIPT_TIMEOUT_MS }),
    writeContract: ({ abi, functionName, args, dataSuffix }) => {
      if (hooks === null) throw new Error('verification must not send a transaction')
      const call = encodeFunctionData({ abi, functionName, args } as never) as Hex
      const data = dataSuffix === undefined ? call : concatHex([call, dataSuffix])
      return relayer.relay(data, hooks.storeSigned, hooks.onSent)
    },
    sendTransaction: () => Promise.reject(new Error('the relayer does not deploy payer wallets')),
  }
}
