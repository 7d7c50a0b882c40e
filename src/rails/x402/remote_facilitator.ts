import { JsonError, readJson } from '#kernel/json.ts'
import { EgressFailed, type HttpClient } from '#platform/http_client/http_client.ts'
import { objectOf } from '#rails/chain/json_rpc.ts'
import type { Facilitator } from './facilitator.ts'
import type { Payment } from './payment.ts'
import { hasPaid, type PaymentNetwork } from './receipt.ts'
import { type Priced, requirementOf } from './requirement.ts'

const TIMEOUT_MS = 25_000
const ANSWER_BYTES_MAX = 65_536

/** No answer, or none that can be read: what was asked may have been done. */
class NoAnswer extends Error {}

/**
 * Somebody else's facilitator, over the same rules for outgoing calls as everything. Where we have
 * a node of our own, its word that the coins have moved is checked: a lie buys nothing.
 */
export function remoteFacilitator(
  url: string,
  http: HttpClient,
  network: PaymentNetwork | null,
): Facilitator {
  const ask = (path: string, payment: Payment, priced: Priced) =>
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
    settle: async (payment, priced, sending) => {
      await sending.asked()
      const answer = await ask('settle', payment, priced).catch((cause: unknown) => {
        if (cause instanceof NoAnswer) return null
        throw cause
      })
      if (answer === null || answer['errorReason'] === 'settlement_pending') {
        return { outcome: 'pending' }
      }
      const { success, transaction, errorReason } = answer
      if (success !== true) {
        return { outcome: 'failed', reason: String(errorReason ?? 'settlement_failed') }
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
    const answer = await http.send({
      method: 'POST',
      url,
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(body),
      timeout_ms: TIMEOUT_MS,
      response_bytes_max: ANSWER_BYTES_MAX,
    })
    if (answer.status >= 500) throw new NoAnswer(`the facilitator answered ${answer.status}`)
    return objectOf(readJson(new TextDecoder().decode(answer.body)), 'an answer')
  } catch (cause) {
    if (cause instanceof EgressFailed || cause instanceof JsonError) {
      throw new NoAnswer('the facilitator gave no answer', { cause })
    }
    throw cause
  }
}
