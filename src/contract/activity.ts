import Type, { type Static } from 'typebox'
import { Several, SeveralIds } from './filters.ts'
import { type Access, holderOnly, operation } from './operation.ts'
import { routes } from './routes.ts'
import { Id, Input, ListOf, Nullable, OneOf, Page, pageQuery, Timestamp, Usd } from './shapes.ts'

const Resource = Type.Object(
  {
    type: Type.String({ description: 'The kind of object.', examples: ['card'] }),
    id: Id('card', 'The object.'),
  },
  { description: 'The object it is about.' },
)

const activity_types = ['topup', 'card', 'spend', 'error'] as const

export const ActivityEvent = Type.Object(
  {
    id: Id('evt', 'The event; webhooks carry the same id.'),
    type: OneOf(activity_types, { description: 'The part of the account.', examples: ['card'] }),
    event: Type.String({
      description:
        'What happened. Besides the events of webhooks there are some that only stand here, such ' +
        'as card.unfrozen, card.unloaded and card.limits_updated.',
      examples: ['card.loaded'],
    }),
    message: Type.String({
      description: 'What happened, in words.',
      examples: ['25.50 USD loaded onto the card ending in 4242.'],
    }),
    severity: OneOf(['info', 'warning', 'error'], {
      description: 'How much attention it asks for. Failures are errors.',
      examples: ['info'],
    }),
    card_id: Nullable(Id('card', 'The card it is about, if any.')),
    amount_usd: Nullable(Usd('The amount it is about, if any.')),
    resource: Resource,
    sequence: Nullable(
      Type.Integer({
        description:
          "The event's place among the account's webhook events; null for what only stands here.",
        examples: [42],
      }),
    ),
    created_at: Timestamp('When it happened.'),
  },
  { description: 'One line of the activity stream.' },
)
export type ActivityEvent = Static<typeof ActivityEvent>

const actor_types = ['session', 'api_key', 'oauth_client', 'system', 'operator'] as const
const audit_results = ['success', 'denied', 'failure'] as const

export const AuditEntry = Type.Object(
  {
    id: Id('aud', 'The entry.'),
    action: Type.String({
      description: 'What was done or tried.',
      examples: ['api_key.created'],
    }),
    actor: Type.Object(
      {
        type: OneOf(actor_types, { description: 'The kind of actor.', examples: ['session'] }),
        id: Nullable(Id('sess', 'The credential it acted with; null for the system itself.')),
        name: Nullable(
          Type.String({ description: 'What it is called.', examples: ['Bookkeeping script'] }),
        ),
      },
      { description: 'Who did it.' },
    ),
    operation: Nullable(
      Type.String({ description: 'The operation it came from.', examples: ['create_api_key'] }),
    ),
    result: OneOf(audit_results, {
      description: 'success: done. denied: not allowed. failure: allowed, and did not work.',
      examples: ['success'],
    }),
    resource: Nullable(Resource),
    ip: Nullable(
      Type.String({ description: 'Where the call came from.', examples: ['203.0.113.7'] }),
    ),
    user_agent: Nullable(
      Type.String({ description: 'The program that made it.', examples: ['florin-cli/0.1.0'] }),
    ),
    request_id: Nullable(Id('req', 'The request it happened in.')),
    created_at: Timestamp('When it happened.'),
    prev_hash: Type.String({
      description: 'The hash of the entry before it; the first one hashes the account itself.',
      examples: ['0'.repeat(64)],
    }),
    hash: Type.String({
      description: 'SHA-256 over this entry and prev_hash: a changed or missing entry shows.',
      examples: ['9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08'],
    }),
  },
  { description: 'One line of the audit log. Lines are added, never changed.' },
)
export type AuditEntry = Static<typeof AuditEntry>

/** A token sees the rows of the scopes it holds, so one of the three is enough to ask. */
const activityReaders: Access = {
  session: true,
  api_key: true,
  oauth: { any: ['topup:read', 'card:read', 'transaction:read'] },
}

const activityFilters = {
  card_id: SeveralIds('card', 'Only what is about this card.'),
  event: Several('Only these events.', { example: 'card.loaded,card.frozen' }),
}

const ActivityPage = Page(ActivityEvent)

export const get_activity = operation({
  name: 'get_activity',
  ...routes.get_activity,
  status: 200,
  section: 'Activity and audit',
  summary: 'Read the activity stream.',
  description:
    'One stream of what happened on the account: deposits, cards, spending, disputes, ' +
    'withdrawals, newest first. The place to start when asked what happened lately. A token sees ' +
    'the rows of the scopes it holds. For one kind of event use filter_activity.',
  access: activityReaders,
  input: Input({ ...pageQuery, ...activityFilters }),
  output: ActivityPage,
  problems: ['invalid_cursor'],
})

export const filter_activity = operation({
  name: 'filter_activity',
  ...routes.filter_activity,
  status: 200,
  section: 'Activity and audit',
  summary: 'Read one kind of activity.',
  description:
    'The activity stream narrowed to one or several kinds. `error` lists every failure, whatever ' +
    'part of the account it happened in: ask it to find out what went wrong.',
  access: activityReaders,
  input: Input({
    ...pageQuery,
    type: ListOf(activity_types, 'Which kinds.'),
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
  summary: 'Read the audit log.',
  description:
    'Who did what on the account: sign-ins, failed ones too, use of keys, reveals of card ' +
    'numbers, grants to agents, and every change. Entries are chained by hash, so tampering ' +
    'shows.',
  access: holderOnly,
  input: Input({
    ...pageQuery,
    action: Several('Only these actions.', { example: 'session.created,session.failed' }),
    actor_type: Type.Optional(ListOf(actor_types, 'Only by actors of these kinds.')),
    actor_id: Several('Only by this credential.', { example: 'key_01kc3z8e5xf8m9r4t2v6w7y8za' }),
    result: Type.Optional(ListOf(audit_results, 'Only with these results.')),
    operation: Several('Only from these operations.', { example: 'withdraw,issue_card' }),
  }),
  output: Page(AuditEntry),
  problems: ['invalid_cursor'],
})
