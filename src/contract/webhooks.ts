import Type, { type Static } from 'typebox'
import { Several } from './filters.ts'
import { type Access, operation, scoped } from './operation.ts'
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
  Usd,
  versioned,
} from './shapes.ts'

const webhook_statuses = ['enabled', 'disabled'] as const

/** Seven days: longer than any careful roll-out of a new secret, shorter than forgetting it. */
const GRACE_MAX_SECONDS = 604_800
const GRACE_SECONDS = 86_400

export const Delivery = Type.Object(
  {
    id: Id('dlv', 'The attempt.'),
    event_id: Id('evt', 'The event.'),
    event_type: Type.String({ description: 'The type of the event.', examples: ['card.loaded'] }),
    webhook_id: Id('wh', 'The subscription.'),
    attempt: Type.Integer({ description: 'Which attempt of the event it is.', examples: [1] }),
    trigger: OneOf(['automatic', 'replay'], {
      description: 'Whether it was due or asked for.',
      examples: ['automatic'],
    }),
    url: Type.String({
      description: 'Where it was sent.',
      examples: ['https://shop.example/florin'],
    }),
    status: OneOf(['succeeded', 'failed', 'pending'], {
      description: 'succeeded: answered with 2xx in time. pending: not answered yet.',
      examples: ['succeeded'],
    }),
    response_status: Nullable(
      Type.Integer({ description: 'The HTTP status of the answer.', examples: [200] }),
    ),
    response_excerpt: Nullable(
      Type.String({ description: 'The first kilobyte of the answer.', examples: ['ok'] }),
    ),
    error: Nullable(
      Type.String({ description: 'What went wrong without an answer.', examples: ['timeout'] }),
    ),
    duration_ms: Nullable(
      Type.Integer({ description: 'How long the endpoint took.', examples: [84] }),
    ),
    created_at: Timestamp('When it was made.'),
    next_attempt_at: Nullable(Timestamp('When the next one is due; null if there is none.')),
  },
  { description: 'One attempt to deliver an event.' },
)
export type Delivery = Static<typeof Delivery>

const fields = {
  id: Id('wh', 'The subscription.'),
  url: Type.String({
    description: 'Where events are sent.',
    examples: ['https://shop.example/florin'],
  }),
  events: Type.Array(Type.String({ examples: ['card.loaded'] }), {
    description: 'The event types it gets; * means all.',
  }),
  status: OneOf(webhook_statuses, {
    description: 'A disabled subscription gets nothing.',
    examples: ['enabled'],
  }),
  disabled_reason: Nullable(
    Type.String({ description: 'Why it is disabled.', examples: ['failing_for_5_days'] }),
  ),
  description: Nullable(
    Type.String({ description: 'Your own note.', examples: ['Shop back end'] }),
  ),
  secret_hint: Type.String({
    description: 'The last characters of the signing secret, to tell two apart.',
    examples: ['…x7Qd'],
  }),
  previous_secret_expires_at: Nullable(
    Timestamp('Until when deliveries are signed with the secret before the last rotation too.'),
  ),
  failing_since: Nullable(Timestamp('Since when every delivery has failed.')),
  last_delivery_at: Nullable(Timestamp('When something was last delivered.')),
  ...versioned,
}

const Secret = Nullable(
  Type.String({
    description:
      'The signing secret, shown this once. Null when the answer is replayed under the same ' +
      'Idempotency-Key.',
    examples: ['whsec_…'],
  }),
)

export const Webhook = Type.Object(
  {
    ...fields,
    secret: Type.Optional(Secret),
    recent_deliveries: Type.Optional(
      Type.Array(Delivery, { description: 'The last 20 attempts; only with expand=deliveries.' }),
    ),
  },
  { description: 'A subscription to events. The secret stands only in the answer that made it.' },
)
export type Webhook = Static<typeof Webhook>

export const NewWebhook = Type.Object(
  { ...fields, secret: Secret },
  { description: 'A new subscription, with the signing secret that is shown once.' },
)
export type NewWebhook = Static<typeof NewWebhook>

const anything = (description: string) =>
  Type.Record(Type.String(), Type.Unknown(), { description })

export const EventBody = Type.Object(
  {
    id: Id('evt', 'The event. The same on every retry and replay: use it to skip what you know.'),
    type: Type.String({ description: 'What happened.', examples: ['card.loaded'] }),
    api_version: OneOf(['v1'], { description: 'The version of the shapes.', examples: ['v1'] }),
    created_at: Timestamp('When it happened.'),
    livemode: Type.Boolean({ description: 'False in the sandbox.', examples: [false] }),
    account_id: Id('acct', 'The account.'),
    sequence: Nullable(
      Type.Integer({
        description: "Counts the account's events by one, without gaps; null for challenges.",
        examples: [42],
      }),
    ),
    request: Nullable(
      Type.Object(
        {
          id: Id('req', 'The request.'),
          idempotency_key: Nullable(
            Type.String({ description: 'Its Idempotency-Key, if it had one.', examples: ['a-1'] }),
          ),
        },
        { description: 'The request that caused it; null where no request did.' },
      ),
    ),
    data: Type.Object(
      {
        object: anything('The resource, as reading it shows it.'),
        previous_attributes: Type.Optional(anything('What the changed fields were before.')),
      },
      { description: 'What it is about.' },
    ),
  },
  {
    description:
      'The body of a delivery: at most 20 KB, the same bytes on every retry and replay. Check ' +
      'Service-Signature before trusting it.',
  },
)
export type EventBody = Static<typeof EventBody>

export const ThreeDsChallenge = Type.Object(
  {
    challenge_id: Id('chg', 'The challenge.'),
    card_id: Id('card', 'The card that is about to pay.'),
    last4: Type.String({ description: 'Its last four digits.', examples: ['4242'] }),
    amount: Type.Number({
      description: "The amount in the merchant's currency.",
      examples: [23.1],
    }),
    currency: Type.String({ description: "The merchant's currency.", examples: ['EUR'] }),
    amount_usd: Usd('The amount in dollars.'),
    merchant_name: Type.String({ description: 'The merchant.', examples: ['BAHN TICKET'] }),
    mcc: Type.String({ description: 'The merchant category.', examples: ['4112'] }),
    merchant_country: Nullable(Type.String({ description: 'Its country.', examples: ['DE'] })),
    created_at: Timestamp('When it was asked.'),
    expires_at: Timestamp('Until when an answer counts: five minutes.'),
    response_url: Type.String({
      description: 'Where a later answer goes. It cannot be guessed and takes one decision.',
      examples: ['https://florin.example/three_ds/chg_01kc3z8e5xf8m9r4t2v6w7y8za/k3y'],
    }),
  },
  { description: 'A purchase online that waits for your yes or no.' },
)
export type ThreeDsChallenge = Static<typeof ThreeDsChallenge>

export const ThreeDsDecision = Type.Object(
  {
    challenge_id: Id('chg', 'The challenge.'),
    decision: OneOf(['approve', 'decline'], {
      description: 'Whether the purchase may go on.',
      examples: ['approve'],
    }),
  },
  { additionalProperties: false, description: 'The answer to a challenge.' },
)
export type ThreeDsDecision = Static<typeof ThreeDsDecision>

const UrlInput = Type.String({
  description: 'A public https address. In the sandbox http on this machine may do.',
  maxLength: 2048,
  examples: ['https://shop.example/florin'],
})

const EventsInput = Type.Array(Type.String({ maxLength: 100 }), {
  description:
    'The event types to get; * means all 18. Name three_ds.challenge to approve purchases online.',
  minItems: 1,
  maxItems: 50,
  examples: [['transaction.authorized', 'transaction.declined']],
})

const DescriptionInput = Type.String({
  description: 'Your own note.',
  maxLength: 500,
  examples: ['Shop back end'],
})

export const list_webhooks = operation({
  name: 'list_webhooks',
  ...routes.list_webhooks,
  status: 200,
  section: 'Webhooks',
  summary: 'List webhook subscriptions.',
  description:
    'The subscriptions of the account. With `expand=deliveries` each carries its last 20 ' +
    'attempts: the way to find out why an endpoint gets nothing.',
  access: scoped('webhook:write'),
  input: Input({
    ...pageQuery,
    status: Type.Optional(ListOf(webhook_statuses, 'Only subscriptions in these states.')),
    event: Several('Only those that get this event type, by name or by *.', {
      example: 'card.loaded',
    }),
    expand: Type.Optional(
      OneOf(['deliveries'], {
        description: 'What to add: deliveries adds recent_deliveries.',
        examples: ['deliveries'],
      }),
    ),
  }),
  output: Page(Webhook),
  problems: ['invalid_cursor'],
})

/** Who is asked about purchases can approve them, so a token needs card:control too. */
const subscribing = {
  session: true,
  api_key: true,
  oauth: {
    all: ['webhook:write'],
    with_item: { events: { 'three_ds.challenge': 'card:control' } },
  },
} as const satisfies Access

export const create_webhook = operation({
  name: 'create_webhook',
  ...routes.create_webhook,
  status: 201,
  section: 'Webhooks',
  summary: 'Subscribe to events.',
  description:
    'Subscribes an address to events. The signing secret is in this answer and nowhere else: ' +
    'store it, and check Service-Signature on every delivery with it. Delivery is at least once, ' +
    'with ten attempts over three days. At most 20 subscriptions.',
  access: subscribing,
  input: Input({
    url: UrlInput,
    events: EventsInput,
    description: Type.Optional(DescriptionInput),
  }),
  output: NewWebhook,
  problems: ['invalid_webhook_url', 'unknown_event_type'],
  rejects_values: true,
  shown_once: ['secret'],
})

export const update_webhook = operation({
  name: 'update_webhook',
  ...routes.update_webhook,
  status: 200,
  section: 'Webhooks',
  summary: 'Change a subscription or rotate its secret.',
  description:
    'Changes what is sent and leaves the rest. `status: enabled` turns a disabled subscription ' +
    'on again. `rotate_secret` makes a new signing secret, shown in this answer only; deliveries ' +
    'are signed with both secrets for `grace_seconds`, after which the old one is gone.',
  access: subscribing,
  input: Input({
    id: Id('wh', 'The subscription.'),
    url: Type.Optional(UrlInput),
    events: Type.Optional(EventsInput),
    description: Type.Optional(Nullable(DescriptionInput)),
    status: Type.Optional(
      OneOf(webhook_statuses, { description: 'Turn it on or off.', examples: ['enabled'] }),
    ),
    rotate_secret: Type.Optional(
      Type.Literal(true, { description: 'Makes a new signing secret.', examples: [true] }),
    ),
    grace_seconds: Type.Optional(
      Type.Integer({
        description: 'How long the old secret still signs, when it is rotated.',
        minimum: 0,
        maximum: GRACE_MAX_SECONDS,
        default: GRACE_SECONDS,
        examples: [GRACE_SECONDS],
      }),
    ),
  }),
  output: Webhook,
  problems: ['invalid_webhook_url', 'unknown_event_type'],
  shown_once: ['secret'],
})

export const delete_webhook = operation({
  name: 'delete_webhook',
  ...routes.delete_webhook,
  status: 204,
  section: 'Webhooks',
  summary: 'Unsubscribe.',
  description:
    'Ends a subscription. Deliveries that are still due are dropped. Cannot be undone: a new ' +
    'subscription has another secret. To pause one, set `status: disabled` with update_webhook.',
  access: scoped('webhook:write'),
  input: Input({ id: Id('wh', 'The subscription.') }),
  output: Nothing,
  destructive: true,
  idempotent: true,
})

export const replay_webhook = operation({
  name: 'replay_webhook',
  ...routes.replay_webhook,
  status: 200,
  section: 'Webhooks',
  summary: 'Send an event again.',
  description:
    'Makes one attempt now and answers with it, whether or not the endpoint accepted. The body ' +
    'is the same bytes as the first time, under the same event id. Events are kept for 30 days.',
  access: scoped('webhook:write'),
  input: Input({
    id: Id('wh', 'The subscription to send it to.'),
    eid: Id('evt', 'The event to send.'),
  }),
  output: Delivery,
  problems: ['event_expired'],
})
