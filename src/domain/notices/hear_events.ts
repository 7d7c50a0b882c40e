import type { Notifications } from '#contract/accounts.ts'
import { event_types } from '#contract/events.ts'
import type { Hearer } from '#domain/events/fan_out_events_task.ts'
import type { ToldEvent } from '#domain/events/outbox_store.ts'
import type { Seams } from '#platform/context.ts'
import { momentInWords, writeLetter } from './notice.ts'
import { findReaders, insertNotices, type Reader } from './notice_store.ts'

type Setting = Exclude<keyof Notifications, 'low_balance_threshold_usd'>

/** Which setting asks for which event. What is not here is not e-mailed. */
const SETTINGS: Readonly<Record<string, Setting>> = {
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
  'webhook.disabled': 'security_alerts',
  // Nobody may miss that purchases are declined from now on.
  'balance.debt_incurred': 'security_alerts',
}

const SUBJECTS: Readonly<Record<string, string>> = {
  ...event_types,
  'dispute.answered': 'A dispute was answered.',
  'dispute.evidence_due': 'Evidence for a dispute is due.',
  'webhook.disabled': 'A webhook was disabled.',
  'balance.debt_incurred': 'Your account owes money',
}

/** Every room that emits gets its e-mails here, in the transaction that fans its events out. */
export function noticesOfEvents({ clock, settings }: Pick<Seams, 'clock' | 'settings'>): Hearer {
  const { public_url, mode } = settings
  return async (tx, events) => {
    const telling = events.filter(({ type }) => type in SETTINGS)
    if (telling.length === 0) return
    const readers = await findReaders(tx, [...new Set(telling.map((event) => event.account_id))])
    const by_account = new Map(readers.map((reader) => [reader.id, reader]))
    const notices = telling.flatMap((event) => {
      const reader = by_account.get(event.account_id)
      if (reader === undefined || !isWanted(event, reader)) return []
      const lines = [event.message, `This happened on ${momentInWords(event.created_at)}.`]
      const subject = (SUBJECTS[event.type] ?? event.type).replace(/\.$/, '')
      return {
        account_id: event.account_id,
        kind: event.type,
        recipient: reader.email,
        ...writeLetter({ subject, lines, public_url, livemode: mode === 'live' }),
        now: clock.now(),
      }
    })
    await insertNotices(tx, notices)
  }
}

function isWanted({ type }: ToldEvent, { notifications }: Reader): boolean {
  const setting = SETTINGS[type]
  return setting !== undefined && (setting === 'security_alerts' || notifications[setting] === true)
}
