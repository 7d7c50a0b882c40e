/**
 * Verifies that a webhook delivery comes from Florin and is not a replay. This file has no
 * dependencies: copy it into any project with Web Crypto (Node, Deno, Bun, browsers, workers).
 */
export type WebhookEvent = {
  id: string
  type: string
  api_version: string
  created_at: string
  livemode: boolean
  account_id: string
  sequence: number | null
  request: { id: string; idempotency_key: string | null } | null
  data: { object: Record<string, unknown>; previous_attributes?: Record<string, unknown> }
}

/** The delivery cannot be trusted. Respond with 400 and ignore it. */
export class WebhookVerificationError extends Error {
  readonly reason: 'no_signature' | 'malformed' | 'too_old' | 'too_new' | 'mismatch' | 'no_event'

  constructor(reason: WebhookVerificationError['reason'], sentence: string) {
    super(sentence)
    this.name = 'WebhookVerificationError'
    this.reason = reason
  }
}

export type VerifyOptions = {
  /** Maximum difference between the signing time and now, in seconds (default: 300). */
  tolerance?: number
  /** Current time in Unix seconds (default: the system clock). */
  now?: number
}

type HeadersInput =
  | { get(name: string): string | null }
  | Readonly<Record<string, string | readonly string[] | undefined>>

const TOLERANCE_SECONDS = 300

/**
 * Returns the event if the signature is valid, and throws WebhookVerificationError if not. Pass the
 * body as received: parsing and serializing it again changes its bytes.
 */
export async function verifyWebhook(
  rawBody: string | Uint8Array,
  headers: HeadersInput,
  secret: string,
  options: VerifyOptions = {},
): Promise<WebhookEvent> {
  const header = readHeader(headers, 'service-signature')
  if (header === undefined || header === '') {
    throw new WebhookVerificationError('no_signature', 'There is no Service-Signature header.')
  }
  const { t, digests } = parseSignature(header)
  requireFresh(Number(t), options)
  const body = typeof rawBody === 'string' ? new TextEncoder().encode(rawBody) : rawBody
  const expected = await hmac(secret, t, body)
  // Compare all digests, so that timing does not reveal which one matched.
  const matches = digests.map((digest) => isEqual(digest, expected))
  if (!matches.includes(true)) {
    throw new WebhookVerificationError('mismatch', 'No signature in the header matches the body.')
  }
  return parseEvent(body)
}

function readHeader(headers: HeadersInput, name: string): string | undefined {
  if (typeof headers.get === 'function') return headers.get(name) ?? undefined
  const found = Object.entries(headers).find(([key]) => key.toLowerCase() === name)?.[1]
  return typeof found === 'string' ? found : Array.isArray(found) ? found.join(',') : undefined
}

function parseSignature(header: string): { t: string; digests: string[] } {
  const pairs = header.split(',').map((part) => part.trim().split('='))
  const t = pairs.find(([name]) => name === 't')?.[1] ?? ''
  const digests = pairs.filter(([name]) => name === 'v1').map(([, digest = '']) => digest)
  if (!/^\d{1,12}$/.test(t) || digests.length === 0) {
    throw new WebhookVerificationError('malformed', 'The Service-Signature header has no t and v1.')
  }
  return { t, digests }
}

/** Future timestamps are refused too, because they would stay valid for too long. */
function requireFresh(t: number, { tolerance = TOLERANCE_SECONDS, now }: VerifyOptions): void {
  const age = (now ?? Math.floor(Date.now() / 1_000)) - t
  if (age > tolerance) {
    throw new WebhookVerificationError('too_old', 'The signature timestamp is too old.')
  }
  if (-age > tolerance) {
    throw new WebhookVerificationError('too_new', 'The signature timestamp is in the future.')
  }
}

async function hmac(secret: string, t: string, body: Uint8Array): Promise<string> {
  const encoder = new TextEncoder()
  const algorithm = { name: 'HMAC', hash: 'SHA-256' }
  const key_bytes = encoder.encode(secret)
  const key = await crypto.subtle.importKey('raw', key_bytes, algorithm, false, ['sign'])
  const prefix = encoder.encode(`${t}.`)
  const signed = new Uint8Array(prefix.length + body.length)
  signed.set(prefix)
  signed.set(body, prefix.length)
  const digest = new Uint8Array(await crypto.subtle.sign('HMAC', key, signed))
  return Array.from(digest, (byte) => byte.toString(16).padStart(2, '0')).join('')
}

/** Constant-time comparison. */
function isEqual(given: string, expected: string): boolean {
  let difference = given.length ^ expected.length
  for (let at = 0; at < expected.length; at += 1) {
    difference |= (given.charCodeAt(at) || 0) ^ expected.charCodeAt(at)
  }
  return difference === 0
}

function parseEvent(body: Uint8Array): WebhookEvent {
  try {
    return JSON.parse(new TextDecoder().decode(body)) as WebhookEvent
  } catch {
    throw new WebhookVerificationError('no_event', 'The body is signed, but it is not JSON.')
  }
}
