import Type, { type Static } from 'typebox'

/**
 * The neutral shape of a processor's real-time decision: what Lithic, Marqeta and Stripe all say
 * in their own words, said once. Amounts are whole numbers of the currency's smallest unit.
 */
const strict = { additionalProperties: false }
const Text = Type.String({ minLength: 1, maxLength: 100 })
const Maybe = Type.Optional(Type.Union([Text, Type.Null()]))

export const ProcessorMessage = Type.Object(
  {
    id: Text,
    type: Type.Enum([
      'authorization',
      'incremental',
      'verification',
      'balance',
      'advice',
      'reversal',
      'clearing',
      'refund',
      'expiry',
    ]),
    /** The id of the message it belongs to. */
    original_id: Maybe,
    card: Type.Union([
      Type.Object({ token: Text }, strict),
      Type.Object({ pan: Type.String({ pattern: '^\\d{12,19}$', maxLength: 19 }) }, strict),
    ]),
    amounts: Type.Object(
      {
        transaction: Type.Integer({ minimum: 0, maximum: 999_999_999_999 }),
        currency: Type.String({ pattern: '^[A-Z]{3}$', maxLength: 3 }),
        /** In cents; needed where the currency is not dollars. */
        billing_usd: Type.Optional(Type.Integer({ minimum: 0, maximum: 999_999_999_999 })),
        rate: Maybe,
        /** Of a partial reversal: what the purchase comes to now. */
        replacement: Type.Optional(Type.Integer({ minimum: 0, maximum: 999_999_999_999 })),
      },
      strict,
    ),
    merchant: Type.Object(
      {
        id: Maybe,
        name: Type.String({ maxLength: 100 }),
        mcc: Type.String({ pattern: '^\\d{4}$', maxLength: 4 }),
        city: Maybe,
        country: Type.Optional(
          Type.Union([Type.String({ pattern: '^[A-Z]{2}$', maxLength: 2 }), Type.Null()]),
        ),
      },
      strict,
    ),
    entry_mode: Type.Optional(
      Type.Enum(['chip', 'contactless', 'swipe', 'keyed', 'ecommerce', 'credential_on_file']),
    ),
    /** Of an advice: what the processor decided in our place. */
    decision: Type.Optional(Type.Enum(['approve', 'decline'])),
    is_final: Type.Optional(Type.Boolean()),
    partial_ok: Type.Optional(Type.Boolean()),
    verification: Type.Optional(
      Type.Object({ cvv: Maybe, expiry: Maybe, challenge_id: Maybe }, strict),
    ),
    network: Type.Optional(
      Type.Object({ rrn: Maybe, auth_code: Maybe, lifecycle_id: Maybe }, strict),
    ),
  },
  strict,
)
export type ProcessorMessage = Static<typeof ProcessorMessage>

export const ProcessorChallenge = Type.Object(
  {
    card: ProcessorMessage.properties.card,
    amounts: ProcessorMessage.properties.amounts,
    merchant: ProcessorMessage.properties.merchant,
  },
  strict,
)
export type ProcessorChallenge = Static<typeof ProcessorChallenge>
