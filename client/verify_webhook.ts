/**
 * For whoever receives webhooks: checks that a delivery comes from Florin and is not an old one
 * sent again. It needs no API key, no other file and no package; web crypto is in Node, Deno, Bun,
 * browsers and workers.
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

/** The delivery must not be trusted: answer 400 and do nothing. */
export class WebhookVerificationError extends Error {
  readonly reason: 'no_signature' | 'malformed' | 'too_old' | 'too_new' | 'mismatch' | 'no_event'

  constructor(reason: WebhookVerificationError['reason'], sentence: string) {
    super(sentence)
    this.name = 'WebhookVerificationError'
    this.reason = reason
  }
}

export type VerifyOptions = {
  /** How many seconds the time of signing may be off, either way. */
  tolerance?: number
  /** The present time in unix seconds; the machine's own where nothing is given. */
  now?: number
}

type GivenHeaders =
  | { get(name: string): string | null }
  | Readonly<Record<string, string | readonly string[] | undefined>>

const TOLERANCE_SECONDS = 300

/**
 * The event, if the signature is right; a WebhookVerificationError if not. `rawBody` is the body as
 * it came, before any JSON was read: parsed and written again it has other bytes.
 */
export async function verifyWebhook(
  rawBody: string | Uint8Array,
  headers: GivenHeaders,
  secret: string,
  options: VerifyOptions = {},
): Promise<WebhookEvent> {
  const header = headerOf(headers, 'service-signature')
  if (header === undefined || header === '') {
    throw new WebhookVerificationError('no_signature', 'There is no Service-Signature header.')
  }
  const { t, digests } = partsOf(header)
  requireFresh(Number(t), options)
  const body = typeof rawBody === 'string' ? new TextEncoder().encode(rawBody) : rawBody
  const expected = await hmac(secret, t, body)
  // All of them are compared, so that the time tells nothing of which one was right.
  const matches = digests.map((digest) => isSame(digest, expected))
  if (!matches.includes(true)) {
    throw new WebhookVerificationError('mismatch', 'No signature in the header fits this body.')
  }
  return eventIn(body)
}

function headerOf(headers: GivenHeaders, name: string): string | undefined {
  if (typeof headers.get === 'function') return headers.get(name) ?? undefined
  const found = Object.entries(headers).find(([key]) => key.toLowerCase() === name)?.[1]
  return typeof found === 'string' ? found : Array.isArray(found) ? found.join(',') : undefined
}

function partsOf(header: string): { t: string; digests: string[] } {
  const pairs = header.split(',').map((part) => part.trim().split('='))
  const t = pairs.find(([name]) => name === 't')?.[1] ?? ''
  const digests = pairs.filter(([name]) => name === 'v1').map(([, digest = '']) => digest)
  if (!/^\d{1,12}$/.test(t) || digests.length === 0) {
    throw new WebhookVerificationError('malformed', 'The Service-Signature header has no t and v1.')
  }
  return { t, digests }
}

/** Both sides: a signature from the future is as good as one that never grows old. */
function requireFresh(t: number, { tolerance = TOLERANCE_SECONDS, now }: VerifyOptions): void {
  const age = (now ?? Math.floor(Date.now() / 1_000)) - t
  if (age > tolerance) {
    throw new WebhookVerificationError('too_old', 'The delivery was signed too long ago.')
  }
  if (-age > tolerance) {
    throw new WebhookVerificationError('too_new', 'The delivery was signed in the future.')
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

/** Takes as long for a wrong first letter as for a wrong last one. */
function isSame(given: string, expected: string): boolean {
  let difference = given.length ^ expected.length
  for (let at = 0; at < expected.length; at += 1) {
    difference |= (given.charCodeAt(at) || 0) ^ expected.charCodeAt(at)
  }
  return difference === 0
}

function eventIn(body: Uint8Array): WebhookEvent {
  try {
    return JSON.parse(new TextDecoder().decode(body)) as WebhookEvent
  } catch {
    throw new WebhookVerificationError('no_event', 'The body is signed, but it is not JSON.')
  }
}
