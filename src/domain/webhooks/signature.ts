import { createHmac } from 'node:crypto'

/**
 * `t=<unix time of this attempt>,v1=<hex>`, with one v1 for each secret. The key is the whole
 * secret as text, `whsec_` included.
 */
export function signatureHeader(body: string, secrets: readonly string[], wall: Date): string {
  const t = Math.floor(wall.getTime() / 1_000)
  const digests = secrets.map((secret) =>
    createHmac('sha256', secret).update(`${t}.`).update(body).digest('hex'),
  )
  return [`t=${t}`, ...digests.map((digest) => `v1=${digest}`)].join(',')
}
