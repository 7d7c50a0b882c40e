import Type, { type Static } from 'typebox'

/**
 * A processor-neutral authorization message with the fields that Lithic, Marqeta and Stripe have
 * in common. Amounts are integers in the currency's minor unit.
 */
const strict = { additionalProperties: false }
const MAX_LENGTH = 100
const Text = Type.String({ minLength: 1, maxLength: MAX_LENGTH })
/** Refusals quote the example. */
const Pattern = (pattern: string, example: string) =>
  Type.String({ pattern, maxLength: MAX_LENGTH, examples: [example] })
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
      Type.Object({ pan: Pattern('^\\d{12,19}$', '4000000000000002') }, strict),
    ]),
    amounts: Type.Object(
      {
        transaction: Type.Integer({ minimum: 0, maximum: 999_999_999_999 }),
        currency: Pattern('^[A-Z]{3}$', 'USD'),
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
        mcc: Pattern('^\\d{4}$', '5411'),
        city: OptionalText,
        country: Type.Optional(Type.Union([Pattern('^[A-Z]{2}$', 'DE'), Type.Null()])),
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
