import type { OutboxEvent } from '#domain/events/outbox_store.ts'
import { formatTimestamp } from './layout.ts'

/** Subjects of events whose message is too long for one. */
const subjects: Readonly<Record<string, string>> = {
  'balance.debt_incurred': 'Your account owes money',
  'system.maintenance': 'Scheduled maintenance',
}

const next_steps: Readonly<Record<string, string>> = {
  'transaction.declined': 'Open the transaction in your account to see what to change.',
  'card.frozen': 'New purchases are declined until you unfreeze the card.',
  'dispute.answered': 'Read the response in your account and add evidence if you disagree.',
  'dispute.evidence_due': 'Evidence added later may not be considered.',
  'webhook.disabled': 'Fix the endpoint, then turn the webhook back on.',
}

/** An event message leads with the amount, merchant and outcome, so it is the subject too. */
export function eventEmail({ type, message, created_at }: OutboxEvent) {
  const next_step = next_steps[type]
  return {
    subject: subjects[type] ?? message.replace(/\.$/, ''),
    lines: [
      message,
      ...(next_step === undefined ? [] : [next_step]),
      `Time: ${formatTimestamp(created_at)}`,
    ],
  }
}
