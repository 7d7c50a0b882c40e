import { createSecretKey, type KeyObject } from 'node:crypto'
import { event_types, named_event_types } from '#contract/events.ts'
import { Problem } from '#contract/problem.ts'
import type { Webhook } from '#contract/webhooks.ts'
import { printable } from '#domain/events/event.ts'
import { EgressRefused, type HttpClient } from '#platform/http_client/http_client.ts'
import type { Random } from '#platform/runtime/random.ts'
import type { Keys } from '#platform/storage/keys.ts'
import { sealedColumn } from '#platform/storage/sealed_column.ts'

/**
 * This room guarantees that every event is delivered at least once to every webhook subscribed to
 * it, signed and always as the same bytes, or that its failed attempts are listed. One endpoint
 * never delays another.
 */
export type WebhookRow = {
  account_id: string
  id: string
  url: string
  events: string[]
  status: 'enabled' | 'disabled'
  disabled_reason: string | null
  description: string | null
  secret_sealed: string
  secret_hint: string
  previous_secret_sealed: string | null
  previous_secret_expires_at: Date | null
  failing_since: Date | null
  last_delivery_at: Date | null
  version: bigint
  created_at: Date
  updated_at: Date
  /** The grant whose token created it; null if the account's owner did. */
  grant_id: string | null
}

const WEBHOOKS_MAX = 20

/** Not an event: a webhook must name it, `*` does not include it. */
const CHALLENGE = 'three_ds.challenge'

export function webhookView(webhook: WebhookRow, now: Date): Webhook {
  const { previous_secret_expires_at } = webhook
  const isInGrace = previous_secret_expires_at !== null && previous_secret_expires_at > now
  return {
    id: webhook.id,
    url: webhook.url,
    events: webhook.events,
    status: webhook.status,
    disabled_reason: webhook.disabled_reason,
    description: webhook.description,
    secret_hint: webhook.secret_hint,
    previous_secret_expires_at: isInGrace ? previous_secret_expires_at.toISOString() : null,
    failing_since: webhook.failing_since?.toISOString() ?? null,
    last_delivery_at: webhook.last_delivery_at?.toISOString() ?? null,
    version: Number(webhook.version),
    created_at: webhook.created_at.toISOString(),
    updated_at: webhook.updated_at.toISOString(),
  }
}

/** Makes a DNS query, so call it before the transaction. */
export async function requireWebhookUrl(http: HttpClient, url: string): Promise<void> {
  try {
    await http.requirePublicUrl(url)
  } catch (cause) {
    if (!(cause instanceof EgressRefused)) throw cause
    throw new Problem('invalid_webhook_url', cause.message, {
      details: [{ field: 'url', message: cause.message }],
      cause,
    })
  }
}

/** For emails, which must not show the path: it may contain a secret. */
export const hostOf = (url: string) => new URL(url).host

/** Removes duplicates and keeps the order. */
export function requireEventTypes(types: readonly string[]): string[] {
  const unknown = types.find((type) => !isKnownType(type))
  if (unknown !== undefined) {
    throw new Problem('unknown_event_type', `Unknown event type: ${printable(unknown)}.`, {
      details: [{ field: 'events', message: `contains an unknown type: ${printable(unknown)}` }],
    })
  }
  return [...new Set(types)]
}

export const isKnownType = (type: string) =>
  type === '*' || type === CHALLENGE || isEventType(type) || Object.hasOwn(named_event_types, type)

/** True for the types that `*` includes. */
export function isEventType(type: string): boolean {
  return Object.hasOwn(event_types, type)
}

export function requireBelowWebhookLimit(count: number): void {
  if (count < WEBHOOKS_MAX) return
  throw new Problem(
    'invalid_request',
    `You have reached the limit of ${WEBHOOKS_MAX} webhooks. Delete one first.`,
    { status: 422 },
  )
}

const SECRET_BYTES = 32
const HINT_LENGTH = 4

const WEBHOOK_SECRET_PURPOSE = 'webhook_secret'
export const WEBHOOK_SECRETS = [
  sealedColumn('webhooks', 'secret_sealed', WEBHOOK_SECRET_PURPOSE),
  sealedColumn('webhooks', 'previous_secret_sealed', WEBHOOK_SECRET_PURPOSE),
]

type NewSecret = { secret: string; secret_sealed: string; secret_hint: string }

export function newSecret({ random, keys }: { random: Random; keys: Keys }, id: string) {
  const secret = `whsec_${Buffer.from(random.bytes(SECRET_BYTES)).toString('base64url')}`
  return {
    secret,
    secret_sealed: keys.seal(WEBHOOK_SECRET_PURPOSE, id, secret),
    secret_hint: `…${secret.slice(-HINT_LENGTH)}`,
  } satisfies NewSecret
}

type SealedSecrets = Pick<
  WebhookRow,
  'secret_sealed' | 'previous_secret_sealed' | 'previous_secret_expires_at'
> & { webhook_id: string }

/** The current secret and, during its grace period, the previous one. */
export function signingSecrets(keys: Keys, webhook: SealedSecrets, now: Date) {
  const { webhook_id: id, previous_secret_sealed, previous_secret_expires_at } = webhook
  const secrets = [openSecret(keys, id, webhook.secret_sealed)]
  if (previous_secret_sealed !== null && (previous_secret_expires_at ?? now) > now) {
    secrets.push(openSecret(keys, id, previous_secret_sealed))
  }
  return secrets
}

const SECRET_KEYS_MAX = 1_000
const secret_keys = new Map<string, KeyObject>()

/** Cached: opening the secret again costs 5 % of a delivery (`npm run bench -- webhooks`). */
function openSecret(keys: Keys, id: string, sealed: string): KeyObject {
  const cached = secret_keys.get(sealed)
  if (cached !== undefined) return cached
  const secret = createSecretKey(keys.open(WEBHOOK_SECRET_PURPOSE, id, sealed), 'utf8')
  if (secret_keys.size >= SECRET_KEYS_MAX) secret_keys.clear()
  secret_keys.set(sealed, secret)
  return secret
}
