import Type, { type Static } from 'typebox'
import { operation, sessionOrKeyOnly } from './operation.ts'
import { routes } from './routes.ts'
import {
  EnumList,
  Id,
  Input,
  NoContent,
  Nullable,
  Page,
  pageQuery,
  StringEnum,
  Timestamp,
  TotpCode,
} from './shapes.ts'

const key_statuses = ['active', 'revoked'] as const

const fields = {
  id: Id('key', 'ID of the key. This is not the secret.'),
  name: Nullable(
    Type.String({ description: 'The name you gave the key.', examples: ['Bookkeeping script'] }),
  ),
  prefix: Type.String({
    description: 'First characters of the key, to help you recognize it.',
    examples: ['flk_test_9fK2'],
  }),
  status: StringEnum(key_statuses, {
    description: 'active: can be used. revoked: permanently disabled.',
    examples: ['active'],
  }),
  last_used_at: Nullable(Timestamp('Time of the last call with this key. Null if never used.')),
  last_used_ip: Nullable(
    Type.String({ description: 'IP address of the last call.', examples: ['203.0.113.7'] }),
  ),
  created_at: Timestamp('Time of creation.'),
  revoked_at: Nullable(Timestamp('Time it was revoked.')),
}

export const ApiKey = Type.Object(fields, {
  description: 'An API key. The secret is never included, only its prefix.',
})
export type ApiKey = Static<typeof ApiKey>

export const NewApiKey = Type.Object(
  {
    ...fields,
    key: Nullable(
      Type.String({
        description:
          'The secret key, shown only once. Null when the response is replayed for the same ' +
          'Idempotency-Key.',
        examples: ['flk_test_9fK2…'],
      }),
    ),
  },
  { description: 'A new API key, with the secret that is shown only once.' },
)
export type NewApiKey = Static<typeof NewApiKey>

export const list_api_keys = operation({
  name: 'list_api_keys',
  ...routes.list_api_keys,
  status: 200,
  section: 'API keys',
  summary: 'List API keys.',
  description:
    "Lists the account's API keys, including revoked ones, with the time and IP address of the " +
    "last use. Only prefixes are shown; a lost key can't be recovered, only replaced.",
  access: sessionOrKeyOnly,
  input: Input({
    ...pageQuery,
    status: Type.Optional(EnumList(key_statuses, 'Filter by status.')),
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
    "Creates a key with full access to the account until it's revoked. The secret is returned " +
    'only in this response: store it right away. To give an agent less access, use OAuth with ' +
    'only the scopes it needs. With two-factor authentication on, a session must send ' +
    "`totp_code`. In live mode a new key can't withdraw for the first 24 hours.",
  access: sessionOrKeyOnly,
  input: Input({
    name: Type.Optional(
      Type.String({
        description: 'A name to help you recognize the key.',
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
    'Permanently revokes a key. It stops working immediately; calls with it fail with ' +
    '`token_revoked`. Use this when a key may have leaked or is no longer needed. A key can ' +
    "revoke itself. Can't be undone.",
  access: sessionOrKeyOnly,
  input: Input({ id: Id('key', 'The key to revoke.') }),
  output: NoContent,
  problems: ['key_revoked'],
  destructive: true,
  idempotent: true,
})
