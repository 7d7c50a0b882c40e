import Type, { type Static } from 'typebox'
import { holderOnly, operation } from './operation.ts'
import { routes } from './routes.ts'
import {
  Id,
  Input,
  ListOf,
  Nothing,
  Nullable,
  OneOf,
  Page,
  pageQuery,
  Timestamp,
  TotpCode,
} from './shapes.ts'

const key_statuses = ['active', 'revoked'] as const

const fields = {
  id: Id('key', 'The key. This is its id, not the secret.'),
  name: Nullable(
    Type.String({ description: 'What you called it.', examples: ['Bookkeeping script'] }),
  ),
  prefix: Type.String({
    description: 'The first characters of the key, enough to recognise it by.',
    examples: ['flk_test_9fK2'],
  }),
  status: OneOf(key_statuses, {
    description: 'active: it works. revoked: it has stopped for good.',
    examples: ['active'],
  }),
  last_used_at: Nullable(Timestamp('When it last made a call; null if it never did.')),
  last_used_ip: Nullable(
    Type.String({ description: 'Where that call came from.', examples: ['203.0.113.7'] }),
  ),
  created_at: Timestamp('When it was made.'),
  revoked_at: Nullable(Timestamp('When it was revoked.')),
}

export const ApiKey = Type.Object(fields, {
  description: 'An API key as it can be read later: never the secret, only its prefix.',
})
export type ApiKey = Static<typeof ApiKey>

export const NewApiKey = Type.Object(
  {
    ...fields,
    key: Nullable(
      Type.String({
        description:
          'The key itself, shown this once. Null when the answer is replayed under the same ' +
          'Idempotency-Key.',
        examples: ['flk_test_9fK2…'],
      }),
    ),
  },
  { description: 'A new API key, with the secret that is shown once.' },
)
export type NewApiKey = Static<typeof NewApiKey>

export const list_api_keys = operation({
  name: 'list_api_keys',
  ...routes.list_api_keys,
  status: 200,
  section: 'API keys',
  summary: 'List API keys.',
  description:
    'The API keys of the account, revoked ones too, with when and from where each was last used. ' +
    'Only prefixes are shown; a lost key cannot be read again, only replaced.',
  access: holderOnly,
  input: Input({
    ...pageQuery,
    status: Type.Optional(ListOf(key_statuses, 'Only keys in these states.')),
  }),
  output: Page(ApiKey),
  problems: ['invalid_cursor'],
})

export const create_api_key = operation({
  name: 'create_api_key',
  ...routes.create_api_key,
  status: 201,
  section: 'API keys',
  summary: 'Create an API key.',
  description:
    'Makes a key that may do everything the account may do, until it is revoked. The plaintext ' +
    'is in this answer and nowhere else: store it at once. For an agent that should do less, use ' +
    'an OAuth token with the scopes it needs. With two-factor on, a session must send ' +
    '`totp_code`. In live mode a new key may withdraw after 24 hours. Costs nothing.',
  access: holderOnly,
  input: Input({
    name: Type.Optional(
      Type.String({
        description: 'A name to recognise it by.',
        minLength: 1,
        maxLength: 100,
        examples: ['Bookkeeping script'],
      }),
    ),
    totp_code: Type.Optional(TotpCode),
  }),
  output: NewApiKey,
  problems: ['totp_required', 'totp_invalid', 'too_many_attempts'],
  shown_once: ['key'],
})

export const revoke_api_key = operation({
  name: 'revoke_api_key',
  ...routes.revoke_api_key,
  status: 204,
  section: 'API keys',
  summary: 'Revoke an API key.',
  description:
    'Stops a key at once and for good; calls with it answer `token_revoked` from then on. Use it ' +
    'when a key may have leaked or is no longer needed. A key may revoke itself. Cannot be undone.',
  access: holderOnly,
  input: Input({ id: Id('key', 'The key to revoke.') }),
  output: Nothing,
  problems: ['key_revoked'],
  destructive: true,
  idempotent: true,
})
