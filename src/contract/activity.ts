import Type, { type Static } from 'typebox'
import { AgentList, IdList, StringList } from './filters.ts'
import { type Access, operation, sessionOrKeyOnly } from './operation.ts'
import { routes } from './routes.ts'
import {
  EnumList,
  Id,
  Input,
  Nullable,
  Page,
  pageQuery,
  StringEnum,
  Timestamp,
  Usd,
} from './shapes.ts'

const Resource = Type.Object(
  {
    type: Type.String({ description: 'Type of the object.', examples: ['card'] }),
    id: Id('card', 'ID of the object.'),
  },
  { description: 'The object the entry is about.' },
)

const activity_types = ['topup', 'card', 'spend', 'error'] as const

export const ActivityEvent = Type.Object(
  {
    id: Id('evt', 'ID of the event. Webhooks carry the same ID.'),
    type: StringEnum(activity_types, { description: 'Category of the event.', examples: ['card'] }),
    event: Type.String({
      description:
        'Event name. Some events appear only here and not in webhooks, such as card.unfrozen, ' +
        'card.unloaded and card.limits_updated.',
      examples: ['card.loaded'],
    }),
    message: Type.String({
      description: 'Description of the event.',
      examples: ['$25.50 loaded onto card ending in 4242.'],
    }),
    severity: StringEnum(['info', 'warning', 'error'], {
      description: 'Failures are errors.',
      examples: ['info'],
    }),
    card_id: Nullable(Id('card', 'The card, if the event is about one.')),
    amount_usd: Nullable(Usd('The amount, if the event has one.')),
    resource: Resource,
    sequence: Nullable(
      Type.Integer({
        description:
          "Position among the account's webhook events. Null for events that have no webhook.",
        examples: [42],
      }),
    ),
    created_at: Timestamp('Time of the event.'),
  },
  { description: 'An entry of the activity feed.' },
)
export type ActivityEvent = Static<typeof ActivityEvent>

const actor_types = ['session', 'api_key', 'oauth_client', 'system', 'operator'] as const
const audit_results = ['success', 'denied', 'failure'] as const

export const AuditEntry = Type.Object(
  {
    id: Id('aud', 'ID of the entry.'),
    action: Type.String({
      description:
        'The action that was performed or attempted. `enable_2fa`: two-factor setup was started. ' +
        '`totp.enabled`: two-factor authentication was turned on.',
      examples: ['api_key.created'],
    }),
    actor: Type.Object(
      {
        type: StringEnum(actor_types, { description: 'Type of the actor.', examples: ['session'] }),
        id: Nullable(Id('sess', 'ID of the credential used. Null for the system.')),
        name: Nullable(
          Type.String({ description: 'Name of the credential.', examples: ['Bookkeeping script'] }),
        ),
      },
      { description: 'Who performed the action.' },
    ),
    operation: Nullable(
      Type.String({ description: 'The API operation.', examples: ['create_api_key'] }),
    ),
    result: StringEnum(audit_results, {
      description: 'success: done. denied: not allowed. failure: allowed, but failed.',
      examples: ['success'],
    }),
    resource: Nullable(Resource),
    ip: Nullable(
      Type.String({ description: 'IP address of the caller.', examples: ['203.0.113.7'] }),
    ),
    user_agent: Nullable(
      Type.String({ description: 'User agent of the caller.', examples: ['florin-cli/0.2.0'] }),
    ),
    request_id: Nullable(Id('req', 'The request that caused the entry.')),
    created_at: Timestamp('Time of the action.'),
    prev_hash: Type.String({
      description: 'Hash of the previous entry. The first entry has the hash of the account.',
      examples: ['0'.repeat(64)],
    }),
    hash: Type.String({
      description: 'SHA-256 of this entry and `prev_hash`. Reveals changed or missing entries.',
      examples: ['9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08'],
    }),
  },
  { description: 'An entry of the audit log. Entries are never changed or removed.' },
)
export type AuditEntry = Static<typeof AuditEntry>

/** A token sees only the rows its scopes cover, so any one of the three scopes is enough. */
const activityReaders: Access = {
  session: true,
  api_key: true,
  oauth: { any: ['topup:read', 'card:read', 'transaction:read'] },
}

const TypeList = EnumList(activity_types, 'Filter by category.')

const activityFilters = {
  card_id: IdList('card', 'Filter by card.'),
  event: StringList('Filter by event.', { example: 'card.loaded,card.frozen' }),
  agent: AgentList,
}

const ActivityPage = Page(ActivityEvent)

export const get_activity = operation({
  name: 'get_activity',
  ...routes.get_activity,
  status: 200,
  section: 'Activity and audit',
  summary: 'List recent activity.',
  description:
    'Lists what happened in the account, newest first: deposits, cards, spending, disputes and ' +
    'withdrawals. Start here to find out what happened recently. An OAuth token sees only the ' +
    'entries its scopes cover.',
  access: activityReaders,
  input: Input({ ...pageQuery, type: Type.Optional(TypeList), ...activityFilters }),
  output: ActivityPage,
  problems: ['invalid_cursor'],
})

export const filter_activity = operation({
  name: 'filter_activity',
  ...routes.filter_activity,
  status: 200,
  section: 'Activity and audit',
  summary: 'List activity by category.',
  description:
    'Lists activity in one or more categories. `error` includes every failure in any part of the ' +
    'account: use it to find out what went wrong.',
  access: activityReaders,
  input: Input({
    ...pageQuery,
    type: TypeList,
    ...activityFilters,
  }),
  output: ActivityPage,
  variant_of: 'get_activity',
  problems: ['invalid_cursor'],
})

export const get_audit_log = operation({
  name: 'get_audit_log',
  ...routes.get_audit_log,
  status: 200,
  section: 'Activity and audit',
  summary: 'List audit log entries.',
  description:
    'Lists who did what in the account: sign-ins and failed sign-ins, API key use, card number ' +
    'reveals, access granted to apps, and every change. Entries form a hash chain, so tampering ' +
    'is detectable.',
  access: sessionOrKeyOnly,
  input: Input({
    ...pageQuery,
    action: StringList('Filter by action.', { example: 'session.created,session.failed' }),
    actor_type: Type.Optional(EnumList(actor_types, 'Filter by type of actor.')),
    actor_id: StringList('Filter by credential.', { example: 'key_01kc3z8e5xf8m9r4t2v6w7y8za' }),
    result: Type.Optional(EnumList(audit_results, 'Filter by result.')),
    operation: StringList('Filter by operation.', { example: 'withdraw,issue_card' }),
  }),
  output: Page(AuditEntry),
  problems: ['invalid_cursor'],
})
