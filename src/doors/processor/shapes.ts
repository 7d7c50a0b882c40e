import Type, { type Static } from 'typebox'

/**
 * A processor-neutral authorization message with the fields that Lithic, Marqeta and Stripe have
 * in common. Amounts are integers in the currency's minor unit.
 */
const strict = { additionalProperties: false }
const Text = Type.String({ minLength: 1, maxLength: 100 })
const OptionalText = Type.Optional(Type.Union([Text, Type.Null()]))

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
    /** The id of the original message. */
    original_id: OptionalText,
    card: Type.Union([
      Type.Object({ token: Text }, strict),
      Type.Object({ pan: Type.String({ pattern: '^\\d{12,19}$', maxLength: 19 }) }, strict),
    ]),
    amounts: Type.Object(
      {
        transaction: Type.Integer({ minimum: 0, maximum: 999_999_999_999 }),
        currency: Type.String({ pattern: '^[A-Z]{3}$', maxLength: 3 }),
        /** In cents; required unless the currency is USD. */
        billing_usd: Type.Optional(Type.Integer({ minimum: 0, maximum: 999_999_999_999 })),
        rate: OptionalText,
        /** The purchase's new amount after a partial reversal. */
        replacement: Type.Optional(Type.Integer({ minimum: 0, maximum: 999_999_999_999 })),
      },
      strict,
    ),
    merchant: Type.Object(
      {
        id: OptionalText,
        name: Type.String({ maxLength: 100 }),
        mcc: Type.String({ pattern: '^\\d{4}$', maxLength: 4 }),
        city: OptionalText,
        country: Type.Optional(
          Type.Union([Type.String({ pattern: '^[A-Z]{2}$', maxLength: 2 }), Type.Null()]),
        ),
      },
      strict,
    ),
    entry_mode: Type.Optional(
      Type.Enum(['chip', 'contactless', 'swipe', 'keyed', 'ecommerce', 'credential_on_file']),
    ),
    /** The processor's decision in stand-in. Other types than advice must not have it. */
    decision: Type.Optional(Type.Enum(['approve', 'decline'])),
    is_final: Type.Optional(Type.Boolean()),
    partial_ok: Type.Optional(Type.Boolean()),
    verification: Type.Optional(
      Type.Object({ cvv: OptionalText, expiry: OptionalText, challenge_id: OptionalText }, strict),
    ),
    network: Type.Optional(
      Type.Object(
        { rrn: OptionalText, auth_code: OptionalText, lifecycle_id: OptionalText },
        strict,
      ),
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
