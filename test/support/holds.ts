import assert from 'node:assert/strict'
import { send } from './http.ts'

/** An authorization at a sandbox merchant that is not captured. */
export async function holdOn(url: string, bearer: string, card_id: string, usd: number) {
  const path = `/sandbox/v1/cards/${card_id}/authorize`
  const purchase = { amount: usd, merchant_country: 'DE' }
  const { body, text } = await send(url, 'POST', path, { bearer, body: purchase })
  assert.equal(body.type, 'authorization', text)
}
