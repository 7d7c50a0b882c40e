import type { NewEvent } from '#domain/context/context.ts'
import { assert } from '#kernel/assert.ts'
import { texts } from '#platform/postgres/columns.ts'
import type { Tx } from '#platform/postgres/db.ts'
import { rowSet } from '#platform/postgres/row_set.ts'
import { rowUpdate } from '#platform/postgres/row_update.ts'
import type { Write } from '#platform/postgres/write.ts'
import type { LastEvent } from './account_sequence_store.ts'
import { activityTypeOf, eventBody, isWebhookEvent } from './event.ts'
import type { EventMetadata } from './record_events.ts'

/** An event and the account it belongs to. */
export type OwnedEvent = { account_id: string; event: NewEvent }

/** Each account's last event: as it was read, and after the events added here. */
export type AccountSequences = Map<string, { read: LastEvent; last: LastEvent }>

export const sequenceAt = ({ event_sequence, last_event_id }: LastEvent) => ({
  read: { event_sequence, last_event_id },
  last: { event_sequence, last_event_id },
})

/** Locks the accounts' sequence rows in id order. They must be the transaction's last locks. */
export async function lockSequences(
  tx: Tx,
  account_ids: readonly string[],
): Promise<AccountSequences> {
  if (account_ids.length === 0) return new Map()
  const rows = await tx.rows<LastEvent & { account_id: string }>(
    `select account_id, event_sequence, last_event_id from account_sequences
      where account_id = any($1) order by account_id for update`,
    [texts(account_ids, (account_id) => account_id)],
  )
  return new Map(rows.map((row) => [row.account_id, sequenceAt(row)]))
}

type NumberedEvent = OwnedEvent & {
  id: string
  sequence: number | null
  body: string | null
  created_at: Date
}

/** Numbers the events of many accounts and returns the writes for them, in order. */
export function eventSetWrites(
  sequences: AccountSequences,
  events: readonly OwnedEvent[],
  { stamp, livemode, request }: EventMetadata,
): readonly Write[] {
  if (events.length === 0) return []
  const changed = new Set<string>()
  const rows = events.map(({ account_id, event }): NumberedEvent => {
    const last = sequences.get(account_id)?.last
    assert(last !== undefined, 'every account has a sequence row')
    changed.add(account_id)
    const { id, created_at } = stamp(last.last_event_id)
    last.last_event_id = id
    if (!isWebhookEvent(event.type)) {
      return { account_id, event, id, created_at, sequence: null, body: null }
    }
    last.event_sequence += 1n
    const sequence = Number(last.event_sequence)
    const body = eventBody(event, { livemode, request, id, created_at, account_id, sequence })
    return { account_id, event, id, created_at, sequence, body }
  })
  return [updateSequences(sequences, changed), insertEvents(rows), insertOutbox(rows)]
}

function updateSequences(sequences: AccountSequences, changed: ReadonlySet<string>): Write {
  const rows = [...changed].sort().map((account_id) => {
    const sequence = sequences.get(account_id)
    assert(sequence !== undefined, 'every changed account has a sequence row')
    return { account_id, ...sequence }
  })
  return writeSequences(rows)
}

type ChangedSequence = { account_id: string; read: LastEvent; last: LastEvent }

const writeSequences = rowUpdate<ChangedSequence>('account_sequences', {
  key: { account_id: ['text', ({ account_id }) => account_id] },
  read: {
    event_sequence: ['bigint', ({ read }) => read.event_sequence],
    last_event_id: ['text', ({ read }) => read.last_event_id],
  },
  set: {
    event_sequence: ['bigint', ({ last }) => last.event_sequence],
    last_event_id: ['text', ({ last }) => last.last_event_id],
  },
})

const insertEvents = rowSet<NumberedEvent>('events', {
  account_id: ['text', ({ account_id }) => account_id],
  id: ['text', ({ id }) => id],
  sequence: ['bigint', ({ sequence }) => (sequence === null ? null : BigInt(sequence))],
  type: ['text', ({ event }) => event.type],
  activity_type: ['text', ({ event }) => activityTypeOf(event.type)],
  severity: ['text', ({ event }) => event.severity ?? 'info'],
  message: ['text', ({ event }) => event.message],
  card_id: ['text', ({ event }) => event.card_id],
  amount_micros: ['bigint', ({ event }) => event.amount_micros],
  resource_type: ['text', ({ event }) => event.resource.type],
  resource_id: ['text', ({ event }) => event.resource.id],
  body: ['text', ({ body }) => body],
  created_at: ['timestamptz', ({ created_at }) => created_at],
})

const insertOutbox = rowSet<NumberedEvent>('outbox', {
  account_id: ['text', ({ account_id }) => account_id],
  event_id: ['text', ({ id }) => id],
})
