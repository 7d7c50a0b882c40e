import { createSecretKey, type KeyObject } from 'node:crypto'
import { event_types } from '#contract/events.ts'
import { Problem } from '#contract/problem.ts'
import type { Webhook } from '#contract/webhooks.ts'
import type { Context, Dependencies } from '#domain/context/context.ts'
import { EgressRefused } from '#platform/http_client/http_client.ts'
import { sealedColumn } from '#platform/storage/sealed_column.ts'

/**
 * This room guarantees that every event reaches every subscription that asked for it, at least
 * once, as the same bytes, signed; or that it shows why not. One endpoint never delays another.
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
  /** The grant whose token made it; null where the account's owner did. */
  grant_id: string | null
}

export const WEBHOOKS_MAX = 20

/** Not an event of the account: it is asked for by name, and `*` does not bring it. */
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

/** Asks a name server, so it is for before the transaction. */
export async function requireWebhookUrl(http: Dependencies['http'], url: string): Promise<void> {
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

/** For an e-mail: the host and who made it know; a path may hold a secret. */
export const placeOf = (url: string) => new URL(url).host

/** Each type once, in the order given. */
export function requireEventTypes(types: readonly string[]): string[] {
  const unknown = types.find((type) => type !== '*' && type !== CHALLENGE && !isEventType(type))
  if (unknown !== undefined) {
    throw new Problem('unknown_event_type', `Unknown event type: ${printable(unknown)}.`, {
      details: [{ field: 'events', message: `contains an unknown type: ${printable(unknown)}` }],
    })
  }
  return [...new Set(types)]
}

export function isEventType(type: string): boolean {
  return Object.hasOwn(event_types, type)
}

const printable = (text: string) => text.replaceAll(/[^\x20-\x7e]/g, '?')

export function requireRoomForOneMore(count: number): void {
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

export type NewSecret = { secret: string; secret_sealed: string; secret_hint: string }

export function newSecret({ random, keys }: Pick<Context, 'random' | 'keys'>, id: string) {
  const secret = `whsec_${Buffer.from(random.bytes(SECRET_BYTES)).toString('base64url')}`
  return {
    secret,
    secret_sealed: keys.seal(WEBHOOK_SECRET_PURPOSE, id, secret),
    secret_hint: `…${secret.slice(-HINT_LENGTH)}`,
  } satisfies NewSecret
}

type Sealed = Pick<
  WebhookRow,
  'secret_sealed' | 'previous_secret_sealed' | 'previous_secret_expires_at'
> & { webhook_id: string }

/** The secrets that sign now: the present one and, while it is in grace, the one before. */
export function signingSecrets({ keys }: Pick<Dependencies, 'keys'>, webhook: Sealed, now: Date) {
  const { webhook_id: id, previous_secret_sealed, previous_secret_expires_at } = webhook
  const secrets = [openSecret(keys, id, webhook.secret_sealed)]
  if (previous_secret_sealed !== null && (previous_secret_expires_at ?? now) > now) {
    secrets.push(openSecret(keys, id, previous_secret_sealed))
  }
  return secrets
}

const OPENED_MAX = 1_000
const opened = new Map<string, KeyObject>()

/** Remembered, because a busy subscription signs thousands of times a minute with one secret. */
function openSecret(keys: Dependencies['keys'], id: string, sealed: string): KeyObject {
  const before = opened.get(sealed)
  if (before !== undefined) return before
  const secret = createSecretKey(keys.open(WEBHOOK_SECRET_PURPOSE, id, sealed), 'utf8')
  if (opened.size >= OPENED_MAX) opened.clear()
  opened.set(sealed, secret)
  return secret
}
