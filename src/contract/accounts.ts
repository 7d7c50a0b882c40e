import Type, { type Static } from 'typebox'
import { operation, scoped, sessionOnly } from './operation.ts'
import { routes } from './routes.ts'
import {
  Id,
  Input,
  Nothing,
  Nullable,
  OneOf,
  Timestamp,
  TotpCode,
  Usd,
  UsdInput,
  versioned,
} from './shapes.ts'

const Email = Type.String({
  description: 'An e-mail address; it is kept in lower case.',
  pattern: '^[^\\s@\\u0000-\\u001f]+@[^\\s@.\\u0000-\\u001f]+(\\.[^\\s@.\\u0000-\\u001f]+)+$',
  maxLength: 254,
  examples: ['ada@example.com'],
})

const NewPassword = Type.String({
  description: 'At least 8 characters, and not one of the passwords everybody tries first.',
  maxLength: 256,
  examples: ['correct horse battery staple'],
})

const Password = Type.String({
  description: 'The password of the account.',
  maxLength: 256,
  examples: ['correct horse battery staple'],
})

const flag = (description: string, standard = true) =>
  Type.Boolean({ description, default: standard })

const notificationFields = {
  topup_confirmed: flag('A deposit was credited.'),
  topup_expired: flag('The window of a deposit address closed.'),
  transaction_authorized: flag('A purchase was approved.', false),
  transaction_declined: flag('A purchase was declined.'),
  card_frozen: flag('A card was frozen.'),
  dispute_updates: flag('A dispute was answered or resolved.'),
  withdrawal_broadcasted: flag('A withdrawal was sent.'),
  system_maintenance: flag('Maintenance is planned.'),
  security_alerts: flag('Sign-ins, keys, password, two-factor. Cannot be turned off.'),
}

export const Notifications = Type.Object(
  {
    ...notificationFields,
    low_balance_threshold_usd: Nullable(Usd('Tell me when the balance falls below it.')),
  },
  { description: 'Which e-mails are sent.' },
)
export type Notifications = Static<typeof Notifications>

const NotificationsInput = Type.Partial(
  Type.Object({
    ...notificationFields,
    low_balance_threshold_usd: Nullable(UsdInput('Null turns the warning off.')),
  }),
  { additionalProperties: false, description: 'Only what is sent is changed.' },
)

export const Account = Type.Object({
  id: Id('acct', 'The account.'),
  email: Email,
  status: OneOf(['active', 'suspended'], { description: 'A suspended account can do nothing.' }),
  balance_usd: Usd('What can be loaded onto cards or withdrawn.'),
  owed_usd: Usd('What the account owes. Money that comes in pays it first. 0 if nothing is owed.'),
  two_factor_enabled: Type.Boolean({ description: 'Whether sign-in asks for a code.' }),
  two_factor_status: OneOf(['disabled', 'pending', 'enabled'], {
    description: 'pending: a secret was made and waits for its first code.',
  }),
  notifications: Notifications,
  cards_count: Type.Object(
    {
      active: Type.Integer({ description: 'Cards that can be used.', examples: [1] }),
      frozen: Type.Integer({ description: 'Cards that are frozen.', examples: [0] }),
      cancelled: Type.Integer({ description: 'Cards that are no more.', examples: [0] }),
    },
    { description: 'How many cards the account has, by state.' },
  ),
  livemode: Type.Boolean({ description: 'False in the sandbox.' }),
  ...versioned,
})
export type Account = Static<typeof Account>

const Bearer = Nullable(
  Type.String({ description: 'Send it as `Authorization: Bearer …`. Works for 30 days.' }),
)

/** A session as its event shows it: without the bearer. */
export const StartedSession = Type.Object(
  {
    id: Id('sess', 'The session.'),
    account_id: Id('acct', 'The account that signed in.'),
    ip: Type.String({ description: 'The address it came from.', examples: ['203.0.113.7'] }),
    user_agent: Type.String({ description: 'The program that signed in.', examples: ['curl/8'] }),
    created_at: Timestamp('When it started.'),
    expires_at: Timestamp('When it ends.'),
  },
  { description: 'A session that was started.' },
)

export const create_account = operation({
  name: 'create_account',
  ...routes.create_account,
  status: 201,
  section: 'Accounts and sessions',
  summary: 'Open an account.',
  description:
    'Opens an account with an e-mail and a password and signs it in: the answer carries a ' +
    'session bearer. No documents are asked for. Repeated with the same Idempotency-Key it ' +
    'answers with the same account and a fresh bearer.',
  access: 'anyone',
  input: Input({ email: Email, password: NewPassword }),
  output: Type.Object({
    id: Id('acct', 'The new account.'),
    email: Email,
    bearer: Bearer,
    session_id: Id('sess', 'The session of this bearer.'),
    expires_at: Timestamp('When the bearer ends.'),
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
  summary: 'Start a session.',
  description:
    'Exchanges e-mail and password, and a code where two-factor is on, for a session bearer of ' +
    '30 days. A recovery code serves in place of a code, once. Ten failures in 15 minutes lock ' +
    'the e-mail for sign-in, whether or not such an account exists.',
  access: 'anyone',
  input: Input({ email: Email, password: Password, totp_code: Type.Optional(TotpCode) }),
  output: Type.Object({
    bearer: Bearer,
    session_id: Id('sess', 'The session of this bearer.'),
    account_id: Id('acct', 'The account it belongs to.'),
    expires_at: Timestamp('When the bearer ends, whatever happens.'),
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
  summary: 'End the current session.',
  description: 'Ends the session whose bearer made the call. The bearer stops working at once.',
  access: sessionOnly,
  input: Input({}),
  output: Nothing,
  idempotent: true,
})

export const get_account = operation({
  name: 'get_account',
  ...routes.get_account,
  status: 200,
  section: 'Accounts and sessions',
  summary: 'Read the account.',
  description:
    'The account of the caller: balance, two-factor state, notifications, cards by state.',
  access: scoped('account:read'),
  input: Input({}),
  output: Account,
})

export const update_account = operation({
  name: 'update_account',
  ...routes.update_account,
  status: 200,
  section: 'Accounts and sessions',
  summary: 'Change e-mail, password or notifications.',
  description:
    'Changes what is sent and leaves the rest. E-mail and password need `current_password`; a ' +
    'new password ends every other session. An API key may change notifications only.',
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
  summary: 'Turn two-factor sign-in on.',
  description:
    'In two calls. Without a body it makes a secret and the URI for an authenticator app, and ' +
    'two-factor is pending. With `totp_code` from that app it turns two-factor on and answers ' +
    'with ten recovery codes, shown this once.',
  access: sessionOnly,
  input: Input({ totp_code: Type.Optional(TotpCode) }),
  output: Type.Object({
    status: OneOf(['pending', 'enabled'], { description: 'Where the enrolment stands.' }),
    secret: Type.Optional(
      Nullable(Type.String({ description: 'The secret in base32; in the first answer.' })),
    ),
    uri: Type.Optional(
      Nullable(Type.String({ description: 'otpauth:// URI, to be shown as a QR code.' })),
    ),
    recovery_codes: Type.Optional(
      Nullable(Type.Array(Type.String(), { description: 'Ten codes, each good for one sign-in.' })),
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
  summary: 'Turn two-factor sign-in off.',
  description: 'Needs the password and a valid code (or a recovery code), both in the body.',
  access: sessionOnly,
  input: Input({ password: Password, totp_code: TotpCode }),
  output: Nothing,
  destructive: true,
  problems: ['totp_not_enabled', 'invalid_credentials', 'totp_invalid', 'too_many_attempts'],
})
