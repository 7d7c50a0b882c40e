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

/** The request body of every delivery attempt and replay. */
export function eventBody(event: NewEvent, envelope: Envelope): string {
  const { id, account_id, sequence, created_at, livemode, request } = envelope
  return JSON.stringify({
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
  })
}
