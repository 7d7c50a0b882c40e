import assert from 'node:assert/strict'
import { ExactEvmScheme } from '@x402/evm/exact/client'
import type { PaymentPayload, PaymentRequired } from '@x402/fetch'
import { wrapFetchWithPaymentFromConfig, x402Client } from '@x402/fetch'
import type { PrivateKeyAccount } from 'viem/accounts'
import type { Reply } from './http.ts'

const schemesOf = (payer: PrivateKeyAccount) => [
  { network: 'eip155:*' as const, client: new ExactEvmScheme(payer) },
]

/** The official x402 client: a fetch that pays on 402. */
export const payingFetch = (payer: PrivateKeyAccount): typeof fetch =>
  wrapFetchWithPaymentFromConfig(fetch, { schemes: schemesOf(payer) }) as typeof fetch

export const fromHeader = (header: string | null) =>
  JSON.parse(Buffer.from(header ?? '', 'base64').toString('utf8'))

export const toHeader = (value: object) =>
  Buffer.from(JSON.stringify(value), 'utf8').toString('base64')

/** The payment requirements of a 402 response. */
export function requiredBy(reply: Pick<Reply, 'status' | 'headers'>): PaymentRequired {
  assert.equal(reply.status, 402)
  return fromHeader(reply.headers.get('payment-required')) as PaymentRequired
}

/** A payment as the official client signs it. */
export function signed(
  payer: PrivateKeyAccount,
  required: PaymentRequired,
): Promise<PaymentPayload> {
  // Without spend controls it signs any payment: some tests need invalid ones.
  const config = { schemes: schemesOf(payer), spendControls: false } as const
  return x402Client.fromConfig(config).createPaymentPayload(required)
}
