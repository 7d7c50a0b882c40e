import { useEffect } from 'react'
import type { ActivityEvent } from '#contract/activity.ts'
import type { OperationName } from '#contract/operations.ts'
import { open } from './api.ts'
import { refresh } from './queries.ts'

/** What is read again when something of this kind happens; the first part of an event's name. */
const concerns: Readonly<Record<string, readonly OperationName[]>> = {
  topup: ['get_topup', 'list_topups', 'get_balance', 'get_balance_history', 'get_account'],
  card: ['get_card', 'list_cards', 'get_balance', 'get_balance_history', 'get_account'],
  transaction: [
    'list_transactions',
    'list_card_transactions',
    'get_transaction',
    'get_card',
    'list_cards',
    'get_balance',
  ],
  dispute: ['list_disputes', 'get_dispute', 'get_balance', 'get_balance_history'],
  withdrawal: ['list_withdrawals', 'get_withdrawal', 'get_balance', 'get_balance_history'],
  account: ['get_account'],
}

const RECONNECT_MS = 2_000

/** Keeps what is on the screen up to date while the page is open. Used once, by the shell. */
export function useLive(): void {
  useEffect(() => {
    const leaving = new AbortController()
    void follow(leaving.signal)
    return () => leaving.abort()
  }, [])
}

/** EventSource cannot send a bearer, so the stream is read by hand, and reopened when it breaks. */
async function follow(signal: AbortSignal): Promise<void> {
  let last_id = ''
  while (!signal.aborted) {
    const headers = { ...(last_id !== '' && { 'Last-Event-ID': last_id }) }
    try {
      const { body } = await open('/v1/activity/stream', { method: 'GET', headers, signal })
      if (body === null) return
      for await (const event of eventsIn(body)) {
        last_id = event.id
        const kind = event.event.split('.')[0] ?? ''
        await refresh([...(concerns[kind] ?? []), 'get_activity', 'filter_activity'])
      }
    } catch {
      // Said nowhere: pages still work, and the next try is soon.
    }
    await new Promise((resolve) => setTimeout(resolve, RECONNECT_MS))
  }
}

async function* eventsIn(
  body: ReadableStream<Uint8Array<ArrayBuffer>>,
): AsyncGenerator<ActivityEvent> {
  const reader = body.pipeThrough(new TextDecoderStream()).getReader()
  let text = ''
  for (;;) {
    const { done, value } = await reader.read()
    if (done) return
    const blocks = (text + value).split('\n\n')
    text = blocks.pop() ?? ''
    for (const block of blocks) {
      const line = block.split('\n').find((each) => each.startsWith('data: '))
      const said = line === undefined ? {} : (JSON.parse(line.slice(6)) as Partial<ActivityEvent>)
      if (said.event !== undefined) yield said as ActivityEvent
    }
  }
}
