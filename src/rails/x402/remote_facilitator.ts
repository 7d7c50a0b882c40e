import { JsonError, readJson } from '#kernel/json.ts'
import { EgressFailed, type HttpClient } from '#platform/http_client/http_client.ts'
import { objectOf } from '#rails/chain/json_rpc.ts'
import type { Facilitator } from './facilitator.ts'
import type { Payment } from './payment.ts'
import { hasPaid, type PaymentNetwork } from './receipt.ts'
import { type PricedCall, requirementOf } from './requirement.ts'

const TIMEOUT_MS = 25_000
const RESPONSE_BYTES_MAX = 65_536

/**
 * Reasons that no block can prove wrong, in the words of the specification and of its library: the
 * signed permission itself can't pay this. Others, such as a lack of funds, may be the effect of a
 * transfer that the facilitator has sent.
 */
const UNUSABLE: ReadonlySet<string> = new Set([
  'invalid_exact_evm_authorization_value',
  'invalid_exact_evm_failed_to_parse_signature',
  'invalid_exact_evm_network_mismatch',
  'invalid_exact_evm_payload_authorization_value',
  'invalid_exact_evm_payload_authorization_value_mismatch',
  'invalid_exact_evm_payload_recipient_mismatch',
  'invalid_exact_evm_payload_signature',
  'invalid_exact_evm_recipient_mismatch',
  'invalid_exact_evm_scheme',
  'invalid_exact_evm_signature',
  'invalid_network',
  'invalid_scheme',
  'unsupported_scheme',
])

/** No readable response: the facilitator may have settled or not. */
class NoResponse extends Error {}

/**
 * An external facilitator, called through the same egress rules as webhooks. If we have a node, we
 * check its claim of a settlement against the receipt.
 */
export function remoteFacilitator(
  url: string,
  http: HttpClient,
  network: PaymentNetwork | null,
): Facilitator {
  const ask = (path: string, payment: Payment, priced: PricedCall) =>
    post(http, `${url}/${path}`, {
      x402Version: 2,
      paymentPayload: payment.payload,
      paymentRequirements: requirementOf(priced),
    })
  return {
    verify: async (payment, priced) => {
      const { isValid, invalidReason } = await ask('verify', payment, priced)
      return isValid === true ? null : String(invalidReason ?? 'invalid')
    },
    settle: async (payment, priced, hooks) => {
      await hooks.beforeRequest()
      const response = await ask('settle', payment, priced).catch((cause: unknown) => {
        if (cause instanceof NoResponse) return null
        throw cause
      })
      if (response === null || response['errorReason'] === 'settlement_pending') {
        return { outcome: 'pending' }
      }
      const { success, transaction, errorReason } = response
      if (success !== true) {
        const reason = String(errorReason ?? 'settlement_failed')
        return { outcome: UNUSABLE.has(reason) ? 'failed' : 'doubtful', reason }
      }
      const txid = String(transaction)
      if (network !== null && !hasPaid(await network.receipt(txid), { ...payment, ...priced })) {
        return { outcome: 'pending' }
      }
      return { outcome: 'settled', txid }
    },
  }
}

async function post(http: HttpClient, url: string, body: object): Promise<Record<string, unknown>> {
  try {
    const response = await http.send({
      method: 'POST',
      url,
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(body),
      timeout_ms: TIMEOUT_MS,
      response_bytes_max: RESPONSE_BYTES_MAX,
    })
    if (response.status >= 500) throw new NoResponse(`the facilitator returned ${response.status}`)
    return objectOf(readJson(new TextDecoder().decode(response.body)), 'an answer')
  } catch (cause) {
    if (cause instanceof EgressFailed || cause instanceof JsonError) {
      throw new NoResponse('the facilitator did not respond', { cause })
    }
    throw cause
  }
}
