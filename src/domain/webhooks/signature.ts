import { createHmac, type KeyObject } from 'node:crypto'

/**
 * `t=<Unix time of this attempt>,v1=<hex>`, with one v1 for each secret. The HMAC key is the whole
 * secret as text, including `whsec_`.
 */
export function signatureHeader(
  body: string | Uint8Array,
  secrets: readonly KeyObject[],
  wall: Date,
): string {
  const t = Math.floor(wall.getTime() / 1_000)
  let header = `t=${t}`
  for (const secret of secrets) {
    header += `,v1=${createHmac('sha256', secret).update(`${t}.`).update(body).digest('hex')}`
  }
  return header
}
