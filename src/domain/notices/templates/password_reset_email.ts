import { formatTimestamp } from '#kernel/timestamp.ts'
import type { Email } from './layout.ts'

type PasswordReset = { url: string; minutes: number; ip: string; requested_at: Date }

export function passwordResetEmail({ url, minutes, ip, requested_at }: PasswordReset): Email {
  return {
    subject: 'Reset your password',
    lines: [
      `Choose a new password within ${minutes} minutes. The link works once.`,
      'If this wasn’t you, ignore this email. Your password stays as it is.',
    ],
    details: [
      ['Requested', formatTimestamp(requested_at)],
      ['IP address', ip],
    ],
    button: { label: 'Choose a new password', to: url },
    footer: 'Someone entered your email address under “Forgot password?”.',
  }
}
