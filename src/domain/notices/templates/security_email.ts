import { type Scope, scopes } from '#contract/scopes.ts'
import type { RequestContext, SecurityAlert } from '#domain/context/context.ts'
import { describeDevice } from '#kernel/device.ts'
import { formatTimestamp } from '#kernel/timestamp.ts'
import type { Email } from './layout.ts'

const subjects: Readonly<Record<SecurityAlert['kind'], string>> = {
  new_sign_in: 'New sign-in to your account',
  api_key_created: 'New API key created',
  password_changed: 'Your password was changed',
  password_reset: 'Your password was reset',
  email_changed: 'Your email address was changed',
  two_factor_on: 'Two-factor authentication was turned on',
  two_factor_off: 'Two-factor authentication was turned off',
  grant_created: 'New app connected to your account',
  card_revealed: 'Card number shown in your account',
  webhook_created: 'New webhook created',
  webhook_moved: 'Webhook URL changed',
  notifications_off: 'Email notifications turned off with an API key',
}

/** Notifications by the names that the panel's settings show. */
const notification_names: Readonly<Record<string, string>> = {
  topup_confirmed: 'Deposit credited',
  topup_expired: 'Top-up expired',
  transaction_authorized: 'Purchase approved',
  transaction_declined: 'Purchase declined',
  card_frozen: 'Card frozen',
  dispute_updates: 'Dispute updates',
  withdrawal_broadcasted: 'Withdrawal sent',
  system_maintenance: 'Scheduled maintenance',
  low_balance_threshold_usd: 'Low balance',
}

const detail_labels: Readonly<Partial<Record<SecurityAlert['kind'], string>>> = {
  api_key_created: 'API key',
  email_changed: 'New address',
  card_revealed: 'Card',
  webhook_created: 'Endpoint',
  webhook_moved: 'New endpoint',
}

type DetailRow = readonly [label: string, value: string]

function detailRows(kind: SecurityAlert['kind'], detail: string): DetailRow[] {
  if (kind === 'grant_created') return grantRows(detail)
  if (kind === 'notifications_off') return notificationRows(detail)
  return [[detail_labels[kind] ?? 'Details', detailText(kind, detail)]]
}

/** An app and its new scopes, with the sentences of the consent page. */
function grantRows(detail: string): DetailRow[] {
  const [, app = detail, granted = ''] = /^(.*) \(([^()]+)\)$/s.exec(detail) ?? []
  const sentences = granted.split(', ').map((scope) => scopes[scope as Scope] ?? scope)
  return [['App', app], ...(granted === '' ? [] : [['It can now', sentences.join(' ')] as const])]
}

function detailText(kind: SecurityAlert['kind'], detail: string): string {
  return kind === 'card_revealed' ? detail.replace(/^card ending/, 'Ending') : detail
}

/** The notifications, and the API key that turned them off. */
function notificationRows(detail: string): DetailRow[] {
  const [, list = detail, key = ''] = /^([^;]*); (.*)$/s.exec(detail) ?? []
  const names = list.split(', ').map((name) => notification_names[name] ?? name)
  return [['Turned off', names.join(', ')], ...(key === '' ? [] : [['API key', key] as const])]
}

type SecurityEmail = {
  alert: SecurityAlert
  request: Pick<RequestContext, 'ip' | 'user_agent'>
  now: Date
  /** Link that undoes the change, for changes an attacker would make to lock the owner out. */
  undo: { url: string; hours: number } | null
}

/**
 * The page to review the change; others lead to the security page. An owner who did not change the
 * password can no longer sign in, so those emails lead to a reset.
 */
const places: Readonly<Partial<Record<SecurityAlert['kind'], readonly [string, string]>>> = {
  password_changed: ['Reset your password', '/forgot_password'],
  password_reset: ['Reset your password', '/forgot_password'],
  api_key_created: ['Review API keys', '/developers/keys'],
  grant_created: ['Review connected apps', '/agents'],
  webhook_created: ['Review webhooks', '/developers/webhooks'],
  webhook_moved: ['Review webhooks', '/developers/webhooks'],
  notifications_off: ['Review notifications', '/settings'],
}

/** The step that takes back the change, before those that are the same for all. */
const first_steps: Readonly<Partial<Record<SecurityAlert['kind'], string>>> = {
  two_factor_off: 'turn it on again',
  grant_created: 'disconnect the app',
  card_revealed: 'freeze the card',
  webhook_created: 'delete the webhook',
  webhook_moved: 'delete the webhook',
  notifications_off: 'turn them on again',
}

/** An owner who did not choose the new password cannot change it, only reset it. */
const password_steps: Readonly<Partial<Record<SecurityAlert['kind'], string>>> = {
  password_changed: 'reset your password',
  password_reset: 'reset it again',
}

function adviceOf(kind: SecurityAlert['kind']): string {
  const first = first_steps[kind]
  const steps = [
    ...(first === undefined ? [] : [first]),
    password_steps[kind] ?? 'change your password',
    'revoke your API keys',
  ]
  return `If this wasn’t you, ${steps.join(', ')}, and contact support.`
}

export function securityEmail({ alert, request, now, undo }: SecurityEmail): Email {
  const { kind, detail } = alert
  const { ip, user_agent } = request
  const [label, to] = places[kind] ?? ['Review your security', '/security']
  return {
    subject: subjects[kind],
    lines: [
      ...(undo === null
        ? [adviceOf(kind)]
        : [
            `If this wasn’t you, undo it and set a new password within ${undo.hours} hours. Then ` +
              'revoke your API keys and contact support.',
          ]),
    ],
    details: [
      ...(detail === undefined || detail === ip ? [] : detailRows(kind, detail)),
      ['Time', formatTimestamp(now)],
      ['Device', describeDevice(user_agent)],
      ['IP address', ip],
    ],
    button: undo === null ? { label, to } : { label: 'Undo this change', to: undo.url },
    footer: 'Security alerts are always sent.',
  }
}
