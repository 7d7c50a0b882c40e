import type { PaymentRequired, PaymentRequirements } from '@x402/core/types'
import type { Micros } from '#kernel/money.ts'

/** USDC on Base, as the contract requires and x402 clients support by default. */
export const NETWORK = 'eip155:8453'
export const CHAIN_ID = 8_453
export const USDC = '0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913'
const USDC_DOMAIN = { name: 'USD Coin', version: '2' }

/** The time a client may take from signing to settlement. */
const TIMEOUT_S = 300

/** A call and its price; the same for REST and MCP, so a payment is valid for both. */
export type PricedCall = { amount_micros: Micros; pay_to: string; url: string; description: string }

/** Settled before the call runs, so copies of a payment cannot buy several calls. */
export function requirementOf({ amount_micros, pay_to }: PricedCall): PaymentRequirements {
  return {
    scheme: 'exact',
    network: NETWORK,
    asset: USDC,
    amount: amount_micros.toString(),
    payTo: pay_to,
    maxTimeoutSeconds: TIMEOUT_S,
    extra: { ...USDC_DOMAIN, paymentFlow: 'upfront' },
  }
}

export function paymentRequired(priced: PricedCall, error: string): PaymentRequired {
  const { url, description } = priced
  return {
    x402Version: 2,
    error,
    resource: { url, description, mimeType: 'application/json' },
    accepts: [requirementOf(priced)],
  }
}

/** Base64-encoded JSON, the protocol's header format. */
export const headerOf = (value: object): string =>
  Buffer.from(JSON.stringify(value), 'utf8').toString('base64')
