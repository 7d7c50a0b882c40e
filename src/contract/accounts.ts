import Type, { type Static } from 'typebox'
import { operation, scoped, sessionOnly } from './operation.ts'
import { routes } from './routes.ts'
import {
  Id,
  Input,
  NoContent,
  Nullable,
  Password,
  StringEnum,
  Timestamp,
  TotpCode,
  Usd,
  UsdInput,
  versioned,
} from './shapes.ts'

/** No characters that separate or enclose addresses: a mail server would see several recipients. */
const EMAIL_PART = String.raw`[^\s@"(),:;<>\[\\\]\x00-\x1f\x7f]+`
const EMAIL_LABEL = String.raw`[^\s@."(),:;<>\[\\\]\x00-\x1f\x7f]+`
export const EMAIL_PATTERN = `^${EMAIL_PART}@${EMAIL_LABEL}(\\.${EMAIL_LABEL})+$`
export const EMAIL_LENGTH_MAX = 254

export const Email = Type.String({
  description: 'Email address. Stored in lowercase.',
  pattern: EMAIL_PATTERN,
  maxLength: EMAIL_LENGTH_MAX,
  examples: ['ada@example.com'],
})

export const NewPassword = Type.String({
  description: 'At least 8 characters. Commonly used passwords are rejected.',
  maxLength: 256,
  examples: ['correct horse battery staple'],
})

const flag = (description: string, enabled_by_default = true) =>
  Type.Boolean({ description, default: enabled_by_default })

const notificationFields = {
  topup_confirmed: flag('A deposit was credited to your balance.'),
  topup_expired: flag('A deposit address expired.'),
  transaction_authorized: flag('A purchase was approved.', false),
  transaction_declined: flag('A purchase was declined.'),
  card_frozen: flag('A card was frozen.'),
  dispute_updates: flag('The merchant responded to a dispute, or it was resolved.'),
  withdrawal_broadcasted: flag('A withdrawal was sent to the blockchain.'),
  system_maintenance: flag('Maintenance is scheduled.'),
  security_alerts: flag('Sign-ins, API keys, password and two-factor changes. Always on.'),
}

export const Notifications = Type.Object(
  {
    ...notificationFields,
    low_balance_threshold_usd: Nullable(
      Usd('Send an email when the balance falls below this amount.'),
    ),
  },
  { description: 'Email notification settings.' },
)
export type Notifications = Static<typeof Notifications>

const NotificationsInput = Type.Partial(
  Type.Object({
    ...notificationFields,
    low_balance_threshold_usd: Nullable(
      UsdInput('Send an email when the balance falls below this amount. Null turns it off.'),
    ),
  }),
  { additionalProperties: false, description: 'Only the fields you send are changed.' },
)

export const Account = Type.Object({
  id: Id('acct', 'ID of the account.'),
  email: Email,
  status: StringEnum(['active', 'suspended'], {
    description: 'suspended: calls are refused and purchases are declined.',
  }),
  balance_usd: Usd('Available to load onto cards or withdraw.'),
  owed_usd: Usd('Amount the account owes. Incoming money pays it first. 0 if nothing is owed.'),
  two_factor_enabled: Type.Boolean({
    description: 'True if signing in requires a two-factor code.',
  }),
  two_factor_status: StringEnum(['disabled', 'pending', 'enabled'], {
    description: 'pending: set up, but not yet confirmed with a first code.',
  }),
  notifications: Notifications,
  cards_count: Type.Object(
    {
      active: Type.Integer({ description: 'Cards that can be used.', examples: [1] }),
      frozen: Type.Integer({ description: 'Frozen cards.', examples: [0] }),
      cancelled: Type.Integer({ description: 'Canceled cards.', examples: [0] }),
    },
    { description: 'Number of cards by status.' },
  ),
  livemode: Type.Boolean({ description: 'False in the sandbox.' }),
  ...versioned,
})
export type Account = Static<typeof Account>

const Bearer = Nullable(
  Type.String({
    description: 'Session bearer. Send it as `Authorization: Bearer …`. Valid for 30 days.',
  }),
)

/** The session as shown in the `account.signed_in` event, without its bearer. */
export const StartedSession = Type.Object(
  {
    id: Id('sess', 'ID of the session.'),
    account_id: Id('acct', 'The account that signed in.'),
    ip: Type.String({ description: 'IP address of the client.', examples: ['203.0.113.7'] }),
    user_agent: Type.String({ description: 'User agent of the client.', examples: ['curl/8'] }),
    created_at: Timestamp('Time of sign-in.'),
    expires_at: Timestamp('Time the session expires.'),
  },
  { description: 'A session.' },
)

export const create_account = operation({
  name: 'create_account',
  ...routes.create_account,
  status: 201,
  section: 'Accounts and sessions',
  summary: 'Create an account.',
  description:
    'Creates an account from an email and a password and signs in: the response includes a ' +
    'session bearer. No identity documents are required. A repeat with the same Idempotency-Key ' +
    'returns the same account with a new bearer.',
  access: 'anyone',
  input: Input({ email: Email, password: NewPassword }),
  output: Type.Object({
    id: Id('acct', 'ID of the new account.'),
    email: Email,
    bearer: Bearer,
    session_id: Id('sess', 'ID of the new session.'),
    expires_at: Timestamp('Time the bearer expires.'),
  }),
  emits: ['account.created'],
  problems: ['email_taken', 'weak_password'],
  shown_once: ['bearer'],
})

export const sign_in = operation({
  name: 'sign_in',
  ...routes.sign_in,
  status: 200,
  section: 'Accounts and sessions',
  summary: 'Sign in.',
  description:
    'Exchanges an email and password for a session bearer that is valid for 30 days. With ' +
    'two-factor authentication on, also send `totp_code`: a code from the authenticator app, or ' +
    'a recovery code (each works once). After ten failed attempts in 15 minutes, sign-in for ' +
    'that email is locked, whether or not the account exists.',
  access: 'anyone',
  input: Input({ email: Email, password: Password, totp_code: Type.Optional(TotpCode) }),
  output: Type.Object({
    bearer: Bearer,
    session_id: Id('sess', 'ID of the new session.'),
    account_id: Id('acct', 'The account that signed in.'),
    expires_at: Timestamp('Time the bearer expires. Using it does not extend it.'),
  }),
  emits: ['account.signed_in'],
  problems: [
    'invalid_credentials',
    'totp_required',
    'totp_invalid',
    'too_many_attempts',
    'account_suspended',
  ],
})

export const sign_out = operation({
  name: 'sign_out',
  ...routes.sign_out,
  status: 204,
  section: 'Accounts and sessions',
  summary: 'Sign out.',
  description: 'Ends the current session. Its bearer stops working immediately.',
  access: sessionOnly,
  input: Input({}),
  output: NoContent,
  idempotent: true,
})

export const get_account = operation({
  name: 'get_account',
  ...routes.get_account,
  status: 200,
  section: 'Accounts and sessions',
  summary: 'Retrieve the account.',
  description:
    'Returns your account: balance, two-factor status, notification settings and card counts.',
  access: scoped('account:read'),
  input: Input({}),
  output: Account,
})

export const update_account = operation({
  name: 'update_account',
  ...routes.update_account,
  status: 200,
  section: 'Accounts and sessions',
  summary: 'Update email, password or notifications.',
  description:
    'Updates the fields you send and leaves the others unchanged. Changing the email or password ' +
    'requires `current_password`; a new password ends all other sessions. An API key can only ' +
    'change `notifications`.',
  access: { session: true, api_key: { only_fields: ['notifications'] }, oauth: null },
  input: Input({
    email: Type.Optional(Email),
    password: Type.Optional(NewPassword),
    current_password: Type.Optional(Password),
    notifications: Type.Optional(NotificationsInput),
  }),
  output: Account,
  problems: ['email_taken', 'weak_password', 'invalid_credentials', 'too_many_attempts'],
  rejects_values: true,
})

export const enable_2fa = operation({
  name: 'enable_2fa',
  ...routes.enable_2fa,
  status: 200,
  section: 'Accounts and sessions',
  summary: 'Turn on two-factor authentication.',
  description:
    'Takes two calls. The first, without a body, returns a secret and an otpauth:// URI for an ' +
    'authenticator app. The second, with `totp_code` from that app, turns two-factor ' +
    'authentication on and returns ten recovery codes, which are shown only once.',
  access: sessionOnly,
  input: Input({ totp_code: Type.Optional(TotpCode) }),
  output: Type.Object({
    status: StringEnum(['pending', 'enabled'], {
      description:
        'pending: send a first code to confirm. enabled: two-factor authentication is on.',
    }),
    secret: Type.Optional(
      Nullable(
        Type.String({ description: 'Shared secret in base32. Returned by the first call.' }),
      ),
    ),
    uri: Type.Optional(
      Nullable(
        Type.String({
          description: 'otpauth:// URI to show as a QR code. Returned by the first call.',
        }),
      ),
    ),
    recovery_codes: Type.Optional(
      Nullable(
        Type.Array(Type.String(), {
          description: 'Ten recovery codes. Each works for one sign-in.',
        }),
      ),
    ),
  }),
  problems: ['totp_already_enabled', 'totp_not_enabled', 'totp_invalid', 'too_many_attempts'],
  shown_once: ['secret', 'uri', 'recovery_codes'],
})

export const disable_2fa = operation({
  name: 'disable_2fa',
  ...routes.disable_2fa,
  status: 204,
  section: 'Accounts and sessions',
  summary: 'Turn off two-factor authentication.',
  description:
    'Requires the account password and a code from the authenticator app (or a recovery code).',
  access: sessionOnly,
  input: Input({ password: Password, totp_code: TotpCode }),
  output: NoContent,
  destructive: true,
  problems: ['totp_not_enabled', 'invalid_credentials', 'totp_invalid', 'too_many_attempts'],
})
