import { event_types, named_event_types } from '#contract/events.ts'
import { type Json, type JsonObject, refTo } from './openapi_schemas.ts'

/** The schema of data.object, by event type or by its prefix. */
const event_objects: Readonly<Record<string, string>> = {
  'account.signed_in': 'StartedSession',
  account: 'Account',
  topup: 'Topup',
  card: 'Card',
  transaction: 'Transaction',
  dispute: 'Dispute',
  withdrawal: 'Withdrawal',
  system: 'Maintenance',
  approval: 'Approval',
}

export function eventObjectOf(type: string): string {
  const [family = ''] = type.split('.')
  const name = event_objects[type] ?? event_objects[family]
  if (name === undefined) throw new Error(`no schema is named for the object of ${type}`)
  return name
}

export function webhooksOf(): JsonObject {
  const types = Object.entries({ ...event_types, ...named_event_types })
  const entries = types.map(([type, summary]): [string, Json] => [
    type,
    { post: callback(type, summary, eventObjectOf(type)) },
  ])
  return { ...Object.fromEntries(entries), 'three_ds.challenge': { post: challengeCallback() } }
}

function callback(type: string, summary: string, object: string): JsonObject {
  return {
    operationId: `on_${type.replace('.', '_')}`,
    tags: ['Webhooks'],
    summary,
    security: [],
    parameters: [
      {
        name: 'Service-Signature',
        in: 'header',
        required: true,
        description:
          'HMAC-SHA256 of `<t>.<raw body>` with the signing secret, in hex. Has two v1 values ' +
          'during the grace period of a rotated secret. Compare in constant time.',
        schema: { type: 'string' },
        example: `t=1763199000,v1=${'5f'.repeat(32)}`,
      },
      {
        name: 'Service-Event-Id',
        in: 'header',
        required: true,
        description: 'ID of the event.',
        schema: { type: 'string' },
        example: 'evt_01kc3z8e5xf8m9r4t2v6w7y8za',
      },
    ],
    requestBody: {
      required: true,
      content: { 'application/json': { schema: eventSchema(type, object) } },
    },
    responses: {
      '2XX': { description: 'Any 2xx within 15 seconds counts as delivered.' },
      '4XX': { description: 'Retried later; 410 disables the subscription.' },
    },
  }
}

const eventSchema = (type: string, object: string): JsonObject => ({
  allOf: [
    refTo('schemas', 'EventBody'),
    {
      type: 'object',
      properties: {
        type: { const: type },
        data: { type: 'object', properties: { object: refTo('schemas', object) } },
      },
    },
  ],
})

function challengeCallback(): JsonObject {
  return {
    ...callback(
      'three_ds.challenge',
      'An online purchase is waiting for approval.',
      'ThreeDsChallenge',
    ),
    description:
      'Sent to the subscription that includes this type. Respond with a decision, or with 202 ' +
      'and send the decision to `response_url` later. After five minutes without a decision ' +
      'the purchase is declined.',
    responses: {
      '200': {
        description: 'Your decision.',
        content: { 'application/json': { schema: refTo('schemas', 'ThreeDsDecision') } },
      },
      '202': { description: 'You will send the decision to `response_url`.' },
      '4XX': { description: 'No decision.' },
    },
  }
}
