import type { SecurityAlert } from '#domain/context/context.ts'
import { formatTimestamp } from './layout.ts'

const subjects: Readonly<Record<SecurityAlert['kind'], string>> = {
  new_sign_in: 'New sign-in to your account',
  api_key_created: 'New API key created',
  password_changed: 'Your password was changed',
  email_changed: 'Your email address was changed',
  two_factor_on: 'Two-factor authentication was turned on',
  two_factor_off: 'Two-factor authentication was turned off',
  grant_created: 'New app connected to your account',
  webhook_created: 'New webhook created',
  webhook_moved: 'Webhook URL changed',
  notifications_off: 'Email notifications turned off with an API key',
}

type SecurityEmail = {
  alert: SecurityAlert
  ip: string
  now: Date
  /** Link that undoes the change, for changes an attacker would make to lock the owner out. */
  undo: { url: string; hours: number } | null
}

export function securityEmail({ alert, ip, now, undo }: SecurityEmail) {
  const subject = subjects[alert.kind]
  return {
    subject,
    lines: [
      alert.detail === undefined ? `${subject}.` : `${subject}: ${alert.detail}.`,
      `Time: ${formatTimestamp(now)}. IP address: ${ip}.`,
      "If this wasn't you, change your password, revoke your API keys and contact support.",
      ...(undo === null
        ? []
        : [
            `To undo this and set a new password, open this link within ${undo.hours} hours:`,
            undo.url,
          ]),
    ],
  }
}
