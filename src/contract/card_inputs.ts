import Type from 'typebox'
import { shipping_methods } from './cards.ts'
import { Id, Nullable, StringEnum, UsdInput } from './shapes.ts'

/** Enough for any real policy; longer lists are usually a mistake and slow every authorization. */
const RULES_MAX = 200

const limit = (description: string) =>
  Type.Optional(Nullable(UsdInput(`${description} Null: no limit. 0: blocked.`)))

export const limitFields = {
  per_transaction_usd: limit('Maximum per purchase.'),
  daily_usd: limit('Maximum per UTC day.'),
  monthly_usd: limit('Maximum per UTC calendar month.'),
}

const ruleFields = (what: string, example: string[]) => {
  const Entries = (description: string) =>
    Type.Optional(
      Nullable(
        Type.Array(Type.String(), { description, maxItems: RULES_MAX, examples: [example] }),
      ),
    )
  return {
    allow: Entries(`Only these ${what} are allowed. Null: all. Empty: none.`),
    deny: Entries(`These ${what} are blocked, even if also allowed. Null: none.`),
  }
}

export const mccFields = ruleFields(
  'merchant categories (four digits, or a range like 5811-5814)',
  ['5411', '5811-5814'],
)
export const geoFields = ruleFields('countries (ISO 3166-1 alpha-2)', ['DE', 'FR'])

export const strict = { additionalProperties: false } as const

export const text = (description: string, length_max: number, example: string) =>
  Type.String({ description, minLength: 1, maxLength: length_max, examples: [example] })

export const ShippingInput = Type.Object(
  {
    name: text('Recipient.', 100, 'Ada Lovelace'),
    line1: text('Street and number.', 200, '12 St James Square'),
    line2: Type.Optional(Nullable(text('Apartment, suite or floor.', 200, 'Flat 3'))),
    city: text('City.', 100, 'London'),
    state: Type.Optional(Nullable(text('State or province.', 100, 'England'))),
    postal_code: text('Postal code.', 20, 'SW1Y 4JH'),
    country: Type.String({ description: 'ISO 3166-1 alpha-2 country code.', examples: ['GB'] }),
    phone: Type.Optional(Nullable(text('Phone number for the carrier.', 40, '+442079460000'))),
    method: Type.Optional(
      StringEnum(shipping_methods, {
        description: 'Shipping method.',
        default: 'standard',
        examples: ['standard'],
      }),
    ),
  },
  { ...strict, description: 'Shipping address. Required for a physical card.' },
)

export const MerchantLockInput = Type.Object(
  {
    id: Type.Optional(
      Nullable(
        text(
          'Merchant ID as on its transactions. Default: compared by name.',
          40,
          '000120083521447',
        ),
      ),
    ),
    name: text('Merchant name as on its transactions. Case is ignored.', 100, 'NETFLIX.COM'),
  },
  {
    ...strict,
    description:
      'The only merchant the card works at, from the start. Requires usage merchant_locked; ' +
      'without it, the first approved authorization sets the lock.',
  },
)

export const CardId = Id('card', 'ID of the card.')
