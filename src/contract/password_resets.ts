import Type from 'typebox'
import { Email, NewPassword } from './accounts.ts'
import { operation } from './operation.ts'
import { routes } from './routes.ts'
import { Input, NoContent, TotpCode } from './shapes.ts'

export const request_password_reset = operation({
  name: 'request_password_reset',
  ...routes.request_password_reset,
  status: 202,
  section: 'Accounts and sessions',
  summary: 'Request a password reset.',
  description:
    'Emails a link for choosing a new password. The link works once, for 30 minutes; a newer one ' +
    'replaces it. The response is the same whether or not an account with this email exists. ' +
    'At most 5 requests an hour per email and per IP address.',
  access: 'anyone',
  input: Input({ email: Email }),
  output: Type.Object({}, { description: 'Empty.' }),
  problems: ['rate_limited'],
})

export const reset_password = operation({
  name: 'reset_password',
  ...routes.reset_password,
  status: 204,
  section: 'Accounts and sessions',
  summary: 'Choose a new password with a reset link.',
  description:
    'Sets a new password with the token of the emailed link. With two-factor authentication on, ' +
    'also send `totp_code`: a code from the authenticator app, or a recovery code. Ends all ' +
    'sessions, pauses withdrawals for the cool-down period and sends a security alert. API keys ' +
    'and connected apps keep working. A token that was refused for its password or code can be ' +
    'used again.',
  access: 'anyone',
  input: Input({
    token: Type.String({
      description: 'Token of the emailed link.',
      minLength: 1,
      maxLength: 200,
      examples: ['3q2-7wAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA'],
    }),
    password: NewPassword,
    totp_code: Type.Optional(TotpCode),
  }),
  output: NoContent,
  problems: [
    'reset_token_invalid',
    'weak_password',
    'totp_required',
    'totp_invalid',
    'too_many_attempts',
    'account_suspended',
  ],
  destructive: true,
})
