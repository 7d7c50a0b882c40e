import { createHmac, timingSafeEqual } from 'node:crypto'
import { Problem } from '#contract/problem.ts'
import type { Secret } from '#kernel/secret.ts'

/** Older or newer than this, a signed body may be somebody's replay. */
const TOLERANCE_S = 300

export const SIGNATURE_HEADER = 'processor-signature'

export function signatureOf(secret: string, body: Uint8Array, unix_s: number): string {
  const hex = createHmac('sha256', secret).update(`${unix_s}.`).update(body).digest('hex')
  return `t=${unix_s},v1=${hex}`
}

/** As our own webhooks sign: `t=<unix>,v1=<hex>` over the time, a dot and the bytes of the body. */
export function requireSigned(
  secret: Secret,
  { header, body, wall }: { header: string | undefined; body: Uint8Array; wall: Date },
): void {
  const [, unix, given] = /^t=(\d{1,12}),v1=([0-9a-f]{64})$/.exec(header ?? '') ?? []
  if (unix === undefined || given === undefined) throw unsigned()
  const right = signatureOf(secret.open(), body, Number(unix)).split('v1=')[1] ?? ''
  if (!timingSafeEqual(Buffer.from(right), Buffer.from(given))) throw unsigned()
  const age_s = Math.abs(wall.getTime() / 1_000 - Number(unix))
  if (age_s > TOLERANCE_S) throw unsigned()
}

/** One sentence for every reason: a caller must not learn which part of a forgery was right. */
function unsigned(): Problem {
  return new Problem('invalid_token', `Send a valid ${SIGNATURE_HEADER} header.`)
}
