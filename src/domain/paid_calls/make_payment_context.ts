import type { Dependencies } from '#domain/context/context.ts'
import { nodeFetch } from '#platform/http_client/node_fetch.ts'
import type { PaymentContext } from './payment_context.ts'

const NODE_TIMEOUT_MS = 10_000

/** Null if no operation has a price; the payment libraries are not loaded then. */
export async function makePaymentContext(
  dependencies: Dependencies,
): Promise<PaymentContext | null> {
  const { prices, rpc_url, key_file, facilitator_url } = dependencies.settings.x402
  if (prices.size === 0) return null
  const { paymentNetwork, makeRelayer, readRelayerKey } = await import('#rails/x402/relayer.ts')
  const network = rpc_url === null ? null : paymentNetwork(rpc_url, nodeFetch(NODE_TIMEOUT_MS))
  if (facilitator_url !== null) {
    const { remoteFacilitator } = await import('#rails/x402/remote_facilitator.ts')
    const facilitator = remoteFacilitator(facilitator_url, dependencies.http, network)
    return { ...dependencies, facilitator, network, relayer: null }
  }
  if (network === null || key_file === null) {
    throw new Error('operations have prices, but no facilitator or relayer is configured')
  }
  const { ownFacilitator } = await import('#rails/x402/own_facilitator.ts')
  const relayer = makeRelayer(network, readRelayerKey(key_file))
  return { ...dependencies, facilitator: ownFacilitator(relayer), network, relayer }
}
