import { fieldProblem } from '#contract/common_problems.ts'
import { type EventType, event_types, named_event_types } from '#contract/events.ts'
import type { NewEvent } from '#domain/context/context.ts'
import { timestampText } from '#kernel/timestamp.ts'

/**
 * This room guarantees that no event is lost: it is written in the transaction of its change, with
 * the account's next sequence number, and its body never changes afterwards.
 */
export function isWebhookEvent(type: string): type is EventType {
  return type in event_types
}

/** Sent to webhooks that name it, without a sequence number. */
export const isNamedEvent = (type: string): boolean => type in named_event_types

/** For filters: a mistyped type would match nothing, as if nothing had happened. */
export function requireKnownTypes(
  list: string | undefined,
  isKnown: (type: string) => boolean,
): void {
  const unknown = list?.split(',').find((type) => !isKnown(type))
  if (unknown === undefined) return
  const message = `contains an unknown event type: ${printable(unknown)}`
  throw fieldProblem('invalid_request', 'event', message)
}

export const printable = (text: string) => text.replaceAll(/[^\x20-\x7e]/g, '?')

export type ActivityType = 'topup' | 'card' | 'spend' | 'error'

const ACTIVITY_TYPES: Readonly<Record<string, ActivityType>> = {
  topup: 'topup',
  card: 'card',
  transaction: 'spend',
  dispute: 'spend',
  withdrawal: 'spend',
  balance: 'spend',
  approval: 'spend',
  // The only webhook event is webhook.disabled, a failure.
  webhook: 'error',
}

/** Null for events outside the activity stream, such as sign-ins and maintenance. */
export function activityTypeOf(type: string): ActivityType | null {
  return ACTIVITY_TYPES[type.slice(0, type.indexOf('.'))] ?? null
}

export type Envelope = {
  id: string
  account_id: string
  sequence: number | null
  created_at: Date
  livemode: boolean
  request: { id: string; idempotency_key: string | null } | null
}

/**
 * The request body of every delivery attempt and replay. Long texts of an object that is too large
 * are truncated; GET shows them in full.
 */
export function eventBody(event: NewEvent, envelope: Envelope): string {
  const content = contentOf(event, envelope)
  let body = JSON.stringify(content)
  for (const length of TEXT_LENGTHS) {
    if (isWithinLimit(body)) return body
    body = JSON.stringify(content, truncateTexts(length))
  }
  return body
}

function contentOf(event: NewEvent, envelope: Envelope): object {
  const { id, account_id, sequence, created_at, livemode, request } = envelope
  return {
    id,
    type: event.type,
    api_version: 'v1',
    created_at: timestampText(created_at),
    livemode,
    account_id,
    sequence,
    request,
    data: {
      object: event.object,
      ...(event.previous_attributes && { previous_attributes: event.previous_attributes }),
    },
  }
}

const BODY_BYTES_MAX = 20_000
/** Texts are truncated to the first of these lengths that is short enough. */
const TEXT_LENGTHS = [1_000, 200, 20]
/** Fields whose text can be long. All values of `metadata` can be, too. */
const TEXT_FIELDS = new Set(['explanation', 'text', 'note', 'file_name'])

/** A UTF-16 unit has at most three bytes in UTF-8, so bytes of a short body are not counted. */
const isWithinLimit = (body: string) =>
  body.length <= BODY_BYTES_MAX / 3 || Buffer.byteLength(body) <= BODY_BYTES_MAX

/** For JSON.stringify. */
function truncateTexts(length: number): (name: string, value: unknown) => unknown {
  const truncate = (text: string) =>
    text.length <= length ? text : `${[...text].slice(0, length - 1).join('')}…`
  return (name, value) => {
    if (typeof value === 'string') return TEXT_FIELDS.has(name) ? truncate(value) : value
    if (name !== 'metadata' || typeof value !== 'object' || value === null) return value
    return mapValues(value as Record<string, string>, truncate)
  }
}

const mapValues = (texts: Record<string, string>, change: (text: string) => string) =>
  Object.fromEntries(Object.entries(texts).map(([key, text]) => [key, change(text)]))
