import { createHmac, timingSafeEqual } from 'node:crypto'
import { Problem } from '#contract/problem.ts'
import type { Secret } from '#kernel/secret.ts'

/** A signature with another age may be a replay. */
const TOLERANCE_S = 300

export const SIGNATURE_HEADER = 'processor-signature'

export function signatureOf(secret: string, body: Uint8Array, unix_s: number): string {
  const hex = createHmac('sha256', secret).update(`${unix_s}.`).update(body).digest('hex')
  return `t=${unix_s},v1=${hex}`
}

/** The same format as our webhooks: `t=<unix>,v1=<hex>` over the time, a dot and the body. */
export function requireSignature(
  secret: Secret,
  { header, body, wall }: { header: string | undefined; body: Uint8Array; wall: Date },
): void {
  const [, unix, signature] = /^t=(\d{1,12}),v1=([0-9a-f]{64})$/.exec(header ?? '') ?? []
  if (unix === undefined || signature === undefined) throw invalidSignature()
  const expected = signatureOf(secret.open(), body, Number(unix)).split('v1=')[1] ?? ''
  if (!timingSafeEqual(Buffer.from(expected), Buffer.from(signature))) throw invalidSignature()
  const age_s = Math.abs(wall.getTime() / 1_000 - Number(unix))
  if (age_s > TOLERANCE_S) throw invalidSignature()
}

/** The same for every reason, so a caller cannot learn which part of a forgery was right. */
function invalidSignature(): Problem {
  return new Problem('invalid_token', `Send a valid ${SIGNATURE_HEADER} header.`)
}
