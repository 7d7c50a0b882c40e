import { useEffect } from 'react'
import type { ActivityEvent } from '#contract/activity.ts'
import type { OperationName } from '#contract/operations.ts'
import { sendRequest } from './api.ts'
import { invalidateOperations } from './queries.ts'

/** Operations to refetch after an event, by the first part of the event name. */
const operations_by_event: Readonly<Record<string, readonly OperationName[]>> = {
  topup: [
    'get_topup',
    'list_topups',
    'get_balance',
    'get_balance_history',
    'get_account',
    'list_statements',
  ],
  card: ['get_card', 'list_cards', 'get_balance', 'get_balance_history', 'get_account'],
  transaction: [
    'list_transactions',
    'list_card_transactions',
    'get_transaction',
    'get_card',
    'list_cards',
    'get_balance',
    'get_spending',
    'list_statements',
  ],
  dispute: [
    'list_disputes',
    'get_dispute',
    'list_transactions',
    'get_transaction',
    'get_balance',
    'get_balance_history',
    'list_statements',
  ],
  withdrawal: [
    'list_withdrawals',
    'get_withdrawal',
    'get_balance',
    'get_balance_history',
    'list_statements',
    'get_limits',
  ],
  approval: ['list_approvals'],
  account: ['get_account', 'list_sessions', 'get_audit_log'],
}

const RECONNECT_MS = 2_000

/** Refetches what is on screen when the activity stream reports a change. */
export function useLiveUpdates(): void {
  useEffect(() => {
    const controller = new AbortController()
    void streamActivity(controller.signal)
    return () => controller.abort()
  }, [])
}

/** EventSource cannot send an Authorization header, so this reads the stream with fetch. */
async function streamActivity(signal: AbortSignal): Promise<void> {
  let last_id = ''
  while (!signal.aborted) {
    const headers = { ...(last_id !== '' && { 'Last-Event-ID': last_id }) }
    try {
      const { body } = await sendRequest('/v1/activity/stream', { method: 'GET', headers, signal })
      if (body === null) return
      for await (const { id, event } of parseEvents(body)) {
        last_id = id ?? event?.id ?? last_id
        if (event === undefined) continue
        const kind = event.event.split('.')[0] ?? ''
        await invalidateOperations([
          ...(operations_by_event[kind] ?? []),
          'get_activity',
          'filter_activity',
        ])
      }
    } catch {
      // Pages work without live updates, and the stream reconnects after RECONNECT_MS.
    }
    await new Promise((resolve) => setTimeout(resolve, RECONNECT_MS))
  }
}

/** The first block has the ID of the last event before the stream, to resume from, and no data. */
type StreamBlock = { id: string | undefined; event: ActivityEvent | undefined }

async function* parseEvents(
  body: ReadableStream<Uint8Array<ArrayBuffer>>,
): AsyncGenerator<StreamBlock> {
  const reader = body.pipeThrough(new TextDecoderStream()).getReader()
  let text = ''
  for (;;) {
    const { done, value } = await reader.read()
    if (done) return
    const blocks = (text + value).split('\n\n')
    text = blocks.pop() ?? ''
    for (const block of blocks) {
      const data = fieldOf(block, 'data')
      const event = data === undefined ? {} : (JSON.parse(data) as Partial<ActivityEvent>)
      // `event: ended` has an error as its data, and heartbeats have none.
      const is_event = event.event !== undefined
      yield { id: fieldOf(block, 'id'), event: is_event ? (event as ActivityEvent) : undefined }
    }
  }
}

const fieldOf = (block: string, name: string): string | undefined =>
  block
    .split('\n')
    .find((line) => line.startsWith(`${name}: `))
    ?.slice(name.length + 2)
