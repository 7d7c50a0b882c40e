import assert from 'node:assert/strict'
import { ExactEvmScheme } from '@x402/evm/exact/client'
import type { PaymentPayload, PaymentRequired } from '@x402/fetch'
import { wrapFetchWithPaymentFromConfig, x402Client } from '@x402/fetch'
import type { PrivateKeyAccount } from 'viem/accounts'
import type { Reply } from './http.ts'

const schemesOf = (payer: PrivateKeyAccount) => [
  { network: 'eip155:*' as const, client: new ExactEvmScheme(payer) },
]

/** The official client: fetch that pays when it is asked to. */
export const payingFetch = (payer: PrivateKeyAccount): typeof fetch =>
  wrapFetchWithPaymentFromConfig(fetch, { schemes: schemesOf(payer) }) as typeof fetch

export const fromHeader = (header: string | null) =>
  JSON.parse(Buffer.from(header ?? '', 'base64').toString('utf8'))

export const toHeader = (value: object) =>
  Buffer.from(JSON.stringify(value), 'utf8').toString('base64')

/** What a refusal with 402 asks for. */
export function requiredBy(reply: Pick<Reply, 'status' | 'headers'>): PaymentRequired {
  assert.equal(reply.status, 402)
  return fromHeader(reply.headers.get('payment-required')) as PaymentRequired
}

/** A payment as the official client signs it. */
export function signed(
  payer: PrivateKeyAccount,
  required: PaymentRequired,
): Promise<PaymentPayload> {
  // It signs whatever it is asked to: some tests ask for what must be refused.
  const config = { schemes: schemesOf(payer), spendControls: false } as const
  return x402Client.fromConfig(config).createPaymentPayload(required)
}
