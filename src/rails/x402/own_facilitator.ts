import { ExactEvmScheme } from '@x402/evm/exact/facilitator'
import { concatHex, encodeFunctionData, type Hex } from 'viem'
import type { Facilitator, Sending } from './facilitator.ts'
import type { Relayer } from './relayer.ts'
import { requirementOf } from './requirement.ts'

type Signer = ConstructorParameters<typeof ExactEvmScheme>[0]

/** Longer than a handful of blocks; whoever waits for an answer should not wait for more. */
const RECEIPT_TIMEOUT_MS = 20_000
const PENDING = 'settlement_pending'

/** x402's own rules of the exact scheme, with our relayer for its hands. */
export function ownFacilitator(relayer: Relayer): Facilitator {
  return {
    verify: async ({ payload }, priced) => {
      // The scheme takes a node that does not answer for a bad signature: ask it something first.
      await relayer.network.client.getBlockNumber()
      const scheme = new ExactEvmScheme(signerFor(relayer, null))
      const { isValid, invalidReason } = await scheme.verify(payload, requirementOf(priced))
      return isValid ? null : (invalidReason ?? 'invalid')
    },
    settle: async ({ payload }, priced, sending) => {
      const scheme = new ExactEvmScheme(signerFor(relayer, sending))
      const answer = await scheme.settle(payload, requirementOf(priced))
      if (answer.success) return { outcome: 'settled', txid: answer.transaction }
      if (answer.errorReason === PENDING) return { outcome: 'pending' }
      return { outcome: 'failed', reason: answer.errorReason ?? 'settlement_failed' }
    },
  }
}

/** One for each payment: what it signs is stored with that payment before it is sent. */
function signerFor(relayer: Relayer, sending: Sending | null): Signer {
  const { client } = relayer.network
  return {
    getAddresses: () => [relayer.address],
    readContract: (args) => client.readContract({ ...args, account: relayer.address } as never),
    verifyTypedData: (args) => client.verifyTypedData(args as never),
    getCode: (args) => client.getCode(args),
    waitForTransactionReceipt: ({ hash }) =>
      client.waitForTransactionReceipt({ hash, timeout: RECEIPT_TIMEOUT_MS }),
    writeContract: ({ abi, functionName, args, dataSuffix }) => {
      if (sending === null) throw new Error('to verify a payment nothing is sent')
      const call = encodeFunctionData({ abi, functionName, args } as never) as Hex
      const data = dataSuffix === undefined ? call : concatHex([call, dataSuffix])
      return relayer.relay(data, sending.store, sending.sent)
    },
    sendTransaction: () => Promise.reject(new Error('the relayer deploys nothing for payers')),
  }
}
