import Type, { type Static } from 'typebox'
import { StringList } from './filters.ts'
import { type Access, operation, scoped } from './operation.ts'
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
  Usd,
  versioned,
} from './shapes.ts'

const webhook_statuses = ['enabled', 'disabled'] as const

/** Seven days: enough to roll out a new secret, short enough that the old one doesn't linger. */
const GRACE_MAX_SECONDS = 604_800
const GRACE_SECONDS = 86_400

export const Delivery = Type.Object(
  {
    id: Id('dlv', 'ID of the attempt.'),
    event_id: Id('evt', 'The event delivered.'),
    event_type: Type.String({ description: 'Event type.', examples: ['card.loaded'] }),
    webhook_id: Id('wh', 'The webhook subscription.'),
    attempt: Type.Integer({ description: 'Number of the attempt for this event.', examples: [1] }),
    trigger: StringEnum(['automatic', 'replay'], {
      description: 'automatic: scheduled. replay: requested with replay_webhook.',
      examples: ['automatic'],
    }),
    url: Type.String({
      description: 'Endpoint URL.',
      examples: ['https://shop.example/florin'],
    }),
    status: StringEnum(['succeeded', 'failed', 'pending'], {
      description: 'succeeded: responded with 2xx in time. pending: no response yet.',
      examples: ['succeeded'],
    }),
    response_status: Nullable(
      Type.Integer({ description: 'HTTP status of the response.', examples: [200] }),
    ),
    response_excerpt: Nullable(
      Type.String({ description: 'First kilobyte of the response.', examples: ['ok'] }),
    ),
    error: Nullable(
      Type.String({
        description: 'Reason for a failure without a response.',
        examples: ['timeout'],
      }),
    ),
    duration_ms: Nullable(
      Type.Integer({ description: 'Response time of the endpoint.', examples: [84] }),
    ),
    created_at: Timestamp('Time of the attempt.'),
    next_attempt_at: Nullable(Timestamp('Time of the next attempt. Null if there is none.')),
  },
  { description: 'An attempt to deliver an event.' },
)
export type Delivery = Static<typeof Delivery>

const fields = {
  id: Id('wh', 'ID of the subscription.'),
  url: Type.String({
    description: 'Endpoint URL.',
    examples: ['https://shop.example/florin'],
  }),
  events: Type.Array(Type.String({ examples: ['card.loaded'] }), {
    description: 'Subscribed event types. * means all.',
  }),
  status: StringEnum(webhook_statuses, {
    description: 'A disabled subscription receives nothing.',
    examples: ['enabled'],
  }),
  disabled_reason: Nullable(
    Type.String({ description: 'Reason it was disabled.', examples: ['failing_for_5_days'] }),
  ),
  description: Nullable(
    Type.String({ description: 'Your description.', examples: ['Store backend'] }),
  ),
  secret_hint: Type.String({
    description: 'Last characters of the signing secret, to tell secrets apart.',
    examples: ['…x7Qd'],
  }),
  previous_secret_expires_at: Nullable(
    Timestamp('Until this time deliveries are also signed with the previous secret.'),
  ),
  failing_since: Nullable(Timestamp('Time since which every delivery has failed.')),
  last_delivery_at: Nullable(Timestamp('Time of the last delivery.')),
  ...versioned,
}

const Secret = Nullable(
  Type.String({
    description:
      'Signing secret, shown only once. Null when the response is replayed for the same ' +
      'Idempotency-Key.',
    examples: ['whsec_…'],
  }),
)

export const Webhook = Type.Object(
  {
    ...fields,
    secret: Type.Optional(Secret),
    recent_deliveries: Type.Optional(
      Type.Array(Delivery, { description: 'Last 20 attempts. Only with expand=deliveries.' }),
    ),
  },
  {
    description:
      'A webhook subscription. The secret is included only when it is created or rotated.',
  },
)
export type Webhook = Static<typeof Webhook>

export const NewWebhook = Type.Object(
  { ...fields, secret: Secret },
  { description: 'A new subscription, with the signing secret that is shown only once.' },
)
export type NewWebhook = Static<typeof NewWebhook>

const freeForm = (description: string) =>
  Type.Record(Type.String(), Type.Unknown(), { description })

export const EventBody = Type.Object(
  {
    id: Id(
      'evt',
      'ID of the event. Identical on every retry and replay: use it to ignore duplicates.',
    ),
    type: Type.String({ description: 'Event type.', examples: ['card.loaded'] }),
    api_version: StringEnum(['v1'], {
      description: 'Version of the data format.',
      examples: ['v1'],
    }),
    created_at: Timestamp('Time of the event.'),
    livemode: Type.Boolean({ description: 'False in the sandbox.', examples: [false] }),
    account_id: Id('acct', 'ID of the account.'),
    sequence: Nullable(
      Type.Integer({
        description: "Position among the account's events, without gaps. Null for challenges.",
        examples: [42],
      }),
    ),
    request: Nullable(
      Type.Object(
        {
          id: Id('req', 'ID of the request.'),
          idempotency_key: Nullable(
            Type.String({
              description: 'Idempotency-Key of the request, if it had one.',
              examples: ['a-1'],
            }),
          ),
        },
        { description: 'The API request that caused the event. Null if none did.' },
      ),
    ),
    data: Type.Object(
      {
        object: freeForm('The object, as its GET endpoint returns it.'),
        previous_attributes: Type.Optional(freeForm('Previous values of changed fields.')),
      },
      { description: 'The object the event is about.' },
    ),
  },
  {
    description:
      'Body of a webhook delivery: up to 20 KB, byte-identical on every retry and replay. Verify ' +
      'Service-Signature before you trust it.',
  },
)
export type EventBody = Static<typeof EventBody>

export const ThreeDsChallenge = Type.Object(
  {
    challenge_id: Id('chg', 'ID of the challenge.'),
    card_id: Id('card', 'The card used for the purchase.'),
    last4: Type.String({ description: 'Last four digits of the card number.', examples: ['4242'] }),
    amount: Type.Number({
      description: "Amount in the merchant's currency.",
      examples: [23.1],
    }),
    currency: Type.String({
      description: "The merchant's currency (ISO 4217).",
      examples: ['EUR'],
    }),
    amount_usd: Usd('Amount in US dollars.'),
    merchant_name: Type.String({ description: 'Merchant name.', examples: ['BAHN TICKET'] }),
    mcc: Type.String({ description: 'Merchant category code.', examples: ['4112'] }),
    merchant_country: Nullable(Type.String({ description: 'Merchant country.', examples: ['DE'] })),
    created_at: Timestamp('Time of the challenge.'),
    expires_at: Timestamp('Deadline for your decision: five minutes after the challenge.'),
    response_url: Type.String({
      description: "URL for a later decision. It can't be guessed and accepts one decision.",
      examples: ['https://florin.example/three_ds/chg_01kc3z8e5xf8m9r4t2v6w7y8za/k3y'],
    }),
  },
  { description: 'An online purchase that is waiting for your decision.' },
)
export type ThreeDsChallenge = Static<typeof ThreeDsChallenge>

export const ThreeDsDecision = Type.Object(
  {
    challenge_id: Id('chg', 'ID of the challenge.'),
    decision: StringEnum(['approve', 'decline'], {
      description: 'Whether to approve the purchase.',
      examples: ['approve'],
    }),
  },
  { additionalProperties: false, description: 'Your decision about a challenge.' },
)
export type ThreeDsDecision = Static<typeof ThreeDsDecision>

const UrlInput = Type.String({
  description: 'Public https URL. The sandbox may also allow http on localhost.',
  maxLength: 2048,
  examples: ['https://shop.example/florin'],
})

const EventsInput = Type.Array(Type.String({ maxLength: 100 }), {
  description:
    'Event types to receive. * means all 18. Add three_ds.challenge to approve online purchases.',
  minItems: 1,
  maxItems: 50,
  examples: [['transaction.authorized', 'transaction.declined']],
})

const DescriptionInput = Type.String({
  description: 'Your description.',
  maxLength: 500,
  examples: ['Store backend'],
})

export const list_webhooks = operation({
  name: 'list_webhooks',
  ...routes.list_webhooks,
  status: 200,
  section: 'Webhooks',
  summary: 'List webhook subscriptions.',
  description:
    "Lists the account's webhook subscriptions. `expand=deliveries` adds the last 20 delivery " +
    'attempts: use it to find out why an endpoint receives nothing.',
  access: scoped('webhook:write'),
  input: Input({
    ...pageQuery,
    status: Type.Optional(EnumList(webhook_statuses, 'Filter by status.')),
    event: StringList('Filter by event type, including subscriptions to *.', {
      example: 'card.loaded',
    }),
    expand: Type.Optional(
      StringEnum(['deliveries'], {
        description: 'deliveries: adds `recent_deliveries`.',
        examples: ['deliveries'],
      }),
    ),
  }),
  output: Page(Webhook),
  problems: ['invalid_cursor'],
})

/** Receiving challenges means approving purchases, so a token also needs card:control. */
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
  summary: 'Create a webhook subscription.',
  description:
    'Subscribes an endpoint to events. The signing secret is returned only in this response: ' +
    'store it and use it to verify Service-Signature on every delivery. Events are delivered at ' +
    'least once, with ten attempts over three days. Up to 20 subscriptions.',
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
  summary: 'Update a webhook subscription.',
  description:
    'Updates the fields you send and leaves the others unchanged. `status: enabled` turns a ' +
    'disabled subscription back on. `rotate_secret` creates a new signing secret, returned only ' +
    'in this response; deliveries are signed with both secrets for `grace_seconds`, then only ' +
    'with the new one.',
  access: subscribing,
  input: Input({
    id: Id('wh', 'ID of the subscription.'),
    url: Type.Optional(UrlInput),
    events: Type.Optional(EventsInput),
    description: Type.Optional(Nullable(DescriptionInput)),
    status: Type.Optional(
      StringEnum(webhook_statuses, {
        description: 'Turn the subscription on or off.',
        examples: ['enabled'],
      }),
    ),
    rotate_secret: Type.Optional(
      Type.Literal(true, { description: 'Create a new signing secret.', examples: [true] }),
    ),
    grace_seconds: Type.Optional(
      Type.Integer({
        description: 'How long the previous secret stays valid after a rotation.',
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
  summary: 'Delete a webhook subscription.',
  description:
    "Deletes a subscription and drops its pending deliveries. Can't be undone: a new " +
    'subscription gets a new secret. To pause it instead, set `status: disabled` with ' +
    'update_webhook.',
  access: scoped('webhook:write'),
  input: Input({ id: Id('wh', 'ID of the subscription.') }),
  output: NoContent,
  destructive: true,
  idempotent: true,
})

export const replay_webhook = operation({
  name: 'replay_webhook',
  ...routes.replay_webhook,
  status: 200,
  section: 'Webhooks',
  summary: 'Resend an event.',
  description:
    'Sends an event again and returns the attempt, whether or not the endpoint accepted it. The ' +
    'body and event ID are identical to the first delivery. An event can be resent for 30 days.',
  access: scoped('webhook:write'),
  input: Input({
    id: Id('wh', 'The subscription to send to.'),
    eid: Id('evt', 'The event to resend.'),
  }),
  output: Delivery,
  problems: ['event_expired'],
})
