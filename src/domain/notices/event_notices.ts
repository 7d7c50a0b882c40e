import type { Notifications } from '#contract/accounts.ts'
import type { CardRow } from '#domain/cards/card.ts'
import { type CardKey, findCardRows } from '#domain/cards/card_store.ts'
import type { EventConsumer } from '#domain/events/fan_out_events_task.ts'
import type { OutboxEvent } from '#domain/events/outbox_store.ts'
import type { Tx } from '#platform/postgres/db.ts'
import type { Clock } from '#platform/runtime/clock.ts'
import type { Settings } from '#settings/settings.ts'
import { findRecipients, insertNotices, type Recipient } from './notice_store.ts'
import { always_sent, eventEmail } from './templates/event_email.ts'
import { renderText } from './templates/layout.ts'

type Setting = Exclude<keyof Notifications, 'low_balance_threshold_usd' | 'security_alerts'>

/** The notification setting of each event. Others are always emailed or never. */
const settings_by_event: Readonly<Record<string, Setting>> = {
  'topup.confirmed': 'topup_confirmed',
  'topup.expired': 'topup_expired',
  'transaction.authorized': 'transaction_authorized',
  'transaction.declined': 'transaction_declined',
  'card.frozen': 'card_frozen',
  'dispute.answered': 'dispute_updates',
  'dispute.evidence_due': 'dispute_updates',
  'dispute.resolved': 'dispute_updates',
  'withdrawal.broadcasted': 'withdrawal_broadcasted',
  'system.maintenance': 'system_maintenance',
}

/** Inserts the emails for events, in the transaction that takes the events from the outbox. */
export function eventNotices({
  clock,
  settings,
}: {
  clock: Clock
  settings: Settings
}): EventConsumer {
  return async (tx, events) => {
    const emailed = events.filter(({ type }) => always_sent.has(type) || type in settings_by_event)
    if (emailed.length === 0) return
    const account_ids = [...new Set(emailed.map((event) => event.account_id))]
    const recipients = await findRecipients(tx, account_ids)
    const by_account = new Map(recipients.map((recipient) => [recipient.id, recipient]))
    const sent = emailed.flatMap((event) => {
      const recipient = by_account.get(event.account_id)
      return recipient !== undefined && isEnabled(event, recipient) ? [{ event, recipient }] : []
    })
    const cards = await findCardsOf(
      tx,
      sent.map(({ event }) => event),
    )
    const notices = sent.map(({ event, recipient }) => {
      const content = eventEmail(event, cards.get(event.card_id ?? '') ?? null)
      return {
        account_id: event.account_id,
        kind: event.type,
        recipient: recipient.email,
        ...renderText(content, settings),
        body_html: null,
        content,
        now: clock.now(),
      }
    })
    await insertNotices(tx, notices)
  }
}

/** One statement for all cards; none if no event is about a card. */
async function findCardsOf(
  tx: Tx,
  events: readonly OutboxEvent[],
): Promise<ReadonlyMap<string, CardRow>> {
  const keys = new Map<string, CardKey>()
  for (const { account_id, card_id } of events) {
    if (card_id !== null) keys.set(card_id, { account_id, id: card_id })
  }
  const cards = keys.size === 0 ? [] : await findCardRows(tx, [...keys.values()])
  return new Map(cards.map((card) => [card.id, card]))
}

function isEnabled({ type }: OutboxEvent, { notifications }: Recipient): boolean {
  const setting = settings_by_event[type]
  return always_sent.has(type) || (setting !== undefined && notifications[setting] === true)
}
