import { DECIDE_MS } from '#domain/budgets/approval.ts'
import type { CardRow } from '#domain/cards/card.ts'
import type { OutboxEvent } from '#domain/events/outbox_store.ts'
import { formatTimestamp } from '#kernel/timestamp.ts'
import { typographic } from '#kernel/typographic.ts'
import type { DetailRows, Email } from './layout.ts'

/**
 * Emails that no setting turns off: deliveries have ended, an app waits for a decision, or
 * purchases are declined from now on.
 */
export const always_sent: ReadonlySet<string> = new Set([
  'webhook.disabled',
  'approval.requested',
  'balance.debt_incurred',
])

const next_steps: Readonly<Record<string, string>> = {
  'topup.confirmed': 'The money is in your balance.',
  'topup.expired': 'A deposit that arrives later is still credited.',
  'transaction.authorized': 'If you don’t recognize it, freeze the card and contact support.',
  'transaction.declined': 'Open the transaction to see what to change.',
  'card.frozen': 'New purchases are declined until the card is unfrozen.',
  'dispute.evidence_due': 'Evidence added later may not be considered.',
  'withdrawal.broadcasted': 'If you didn’t request it, contact support immediately.',
  'approval.requested': 'Approve or decline it. If you approve, the app can make this call once.',
  'webhook.disabled': 'Fix the endpoint, then turn the webhook back on.',
}

/** The page of each kind of object, and the button that opens it. */
const pages: Readonly<Record<string, readonly [page: string, label: string]>> = {
  tup: ['/topups', 'View top-up'],
  txn: ['/transactions', 'View transaction'],
  card: ['/cards', 'View card'],
  dsp: ['/disputes', 'View dispute'],
  wd: ['/withdrawals', 'View withdrawal'],
  apr: ['/approvals', 'Review request'],
  wh: ['/developers/webhooks', 'View webhook'],
}

function buttonOf({ type, resource_id }: OutboxEvent): Email['button'] {
  if (type === 'balance.debt_incurred') return { label: 'Add money', to: '/topups' }
  const found = pages[resource_id.split('_')[0] ?? '']
  if (found === undefined) return { label: 'Open your account', to: '/' }
  const [page, label] = found
  return { label, to: `${page}/${resource_id}` }
}

/**
 * Messages that explain themselves after their first sentence or clause. The explanation goes into
 * the text, because a subject is cut after some sixty characters.
 */
const explained: Readonly<Record<string, RegExp>> = {
  'balance.debt_incurred': /[.] /,
  'approval.requested': /; /,
  // After the amount, because the merchant's name may have a semicolon.
  'dispute.answered': /(?<=[)]); /,
  'system.maintenance': /: /,
}

function splitMessage(type: string, message: string): [subject: string, explanation?: string] {
  const separator = explained[type]?.exec(message)
  if (separator === null || separator === undefined) return [message]
  const rest = message.slice(separator.index + separator[0].length)
  const explanation = rest.charAt(0).toUpperCase() + rest.slice(1)
  return [message.slice(0, separator.index), typographic(explanation)]
}

/** A dispute that ends with a refund says so itself; its credit went back. */
function nextStep(type: string, message: string): string | undefined {
  if (type !== 'dispute.resolved') return next_steps[type]
  if (message.startsWith('You lost')) return 'The provisional credit was taken back.'
  return message.includes('refunded') ? undefined : 'The credit stays in your balance.'
}

/** The card of an event, as its owner knows it. */
export type NamedCard = Pick<CardRow, 'name' | 'brand' | 'last4'>

function cardText({ name, brand, last4 }: NamedCard): string {
  return `${name ?? (brand === 'visa' ? 'Visa' : 'Mastercard')} ·· ${last4}`
}

function timeRows({ type, created_at }: OutboxEvent): DetailRows {
  // The time of the announcement, beside the times of the maintenance, would only confuse.
  if (type === 'system.maintenance') return []
  const time = ['Time', formatTimestamp(created_at)] as const
  if (type !== 'approval.requested') return [time]
  const decide_by = new Date(created_at.getTime() + DECIDE_MS)
  return [time, ['Decide by', formatTimestamp(decide_by)]]
}

/** A message leads with amount, merchant and outcome, so it is the subject. */
export function eventEmail(event: OutboxEvent, card: NamedCard | null): Email {
  const { type, message } = event
  const [subject, explanation] = splitMessage(type, message)
  const lines = [explanation, nextStep(type, message)]
  return {
    subject: subject.replace(/\.$/, ''),
    lines: lines.filter((line) => line !== undefined),
    details: [...(card === null ? [] : [['Card', cardText(card)] as const]), ...timeRows(event)],
    button: buttonOf(event),
    ...(always_sent.has(type) && { footer: 'Alerts like this are always sent.' }),
  }
}
