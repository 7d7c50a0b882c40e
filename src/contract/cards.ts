import Type, { type Static } from 'typebox'
import { Id, Metadata, Nullable, StringEnum, Timestamp, Usd, versioned } from './shapes.ts'

export const brands = ['visa', 'mastercard'] as const
export const card_types = ['virtual', 'physical'] as const
export const card_statuses = ['active', 'frozen', 'cancelled'] as const
const card_usages = ['reusable', 'single_use', 'merchant_locked'] as const
export const shipping_methods = ['standard', 'priority', 'express'] as const

const walletState = (name: string) =>
  StringEnum(['ready', 'pending', 'unsupported'], {
    description: `ready: can be added to ${name}. pending: still being prepared.`,
    examples: ['ready'],
  })

export const Wallet = Type.Object(
  { apple_pay: walletState('Apple Pay'), google_pay: walletState('Google Pay') },
  { description: 'Mobile wallet support of the card.' },
)
export type Wallet = Static<typeof Wallet>

export const CardLimits = Type.Object(
  {
    per_transaction_usd: Nullable(Usd('Maximum per purchase. Null: no limit. 0: blocked.')),
    daily_usd: Nullable(Usd('Maximum per UTC day. Null: no limit. 0: blocked.')),
    monthly_usd: Nullable(Usd('Maximum per UTC calendar month. Null: no limit. 0: blocked.')),
    spent: Type.Object(
      {
        daily_usd: Usd('Spent this UTC day.'),
        monthly_usd: Usd('Spent this UTC calendar month.'),
        daily_resets_at: Timestamp('Time the daily limit resets.'),
        monthly_resets_at: Timestamp('Time the monthly limit resets.'),
      },
      {
        description:
          'Amounts that count toward the limits: approved authorizations minus reversed and ' +
          "expired ones. Refunds don't reduce them.",
      },
    ),
  },
  { description: 'Spending limits of the card.' },
)
export type CardLimits = Static<typeof CardLimits>

export const CardRules = Type.Object(
  {
    allow: Nullable(
      Type.Array(Type.String(), { description: 'Only these are allowed. Null: all. Empty: none.' }),
    ),
    deny: Nullable(
      Type.Array(Type.String(), { description: 'These are blocked, even if also allowed.' }),
    ),
  },
  {
    description:
      'Where the card can be used. Merchant category codes (MCC) are four digits or a range such ' +
      'as 5811-5814; countries are ISO 3166-1 alpha-2 codes.',
  },
)
export type CardRules = Static<typeof CardRules>

export const Shipping = Type.Object(
  {
    name: Type.String({ description: 'Recipient.', examples: ['Ada Lovelace'] }),
    line1: Type.String({ description: 'Street and number.', examples: ['12 St James Square'] }),
    line2: Nullable(
      Type.String({ description: 'Apartment, suite or floor.', examples: ['Flat 3'] }),
    ),
    city: Type.String({ description: 'City.', examples: ['London'] }),
    state: Nullable(Type.String({ description: 'State or province.', examples: ['England'] })),
    postal_code: Type.String({ description: 'Postal code.', examples: ['SW1Y 4JH'] }),
    country: Type.String({ description: 'ISO 3166-1 alpha-2 country code.', examples: ['GB'] }),
    phone: Nullable(
      Type.String({ description: 'Phone number for the carrier.', examples: ['+442079460000'] }),
    ),
    method: StringEnum(shipping_methods, {
      description: 'Shipping method.',
      examples: ['standard'],
    }),
    status: StringEnum(
      ['pending', 'submitted', 'shipped', 'delivered', 'returned', 'failed', 'cancelled'],
      { description: 'Shipping status.', examples: ['pending'] },
    ),
    carrier: Nullable(Type.String({ description: 'Carrier.', examples: ['Royal Mail'] })),
    tracking_number: Nullable(
      Type.String({ description: 'Tracking number.', examples: ['RM123456789GB'] }),
    ),
    tracking_url: Nullable(
      Type.String({
        description: 'Tracking page of the carrier.',
        examples: ['https://carrier.example/track/RM123456789GB'],
      }),
    ),
    shipped_at: Nullable(Timestamp('Time it was shipped.')),
    delivered_at: Nullable(Timestamp('Time it was delivered.')),
  },
  { description: 'Shipping address and status of a physical card.' },
)
export type Shipping = Static<typeof Shipping>

export const Usage = (options: object) =>
  StringEnum(card_usages, {
    description:
      'reusable: for any number of purchases. single_use: canceled after its first approved ' +
      'purchase. merchant_locked: works only at the merchant of its first approved authorization.',
    examples: ['reusable'],
    ...options,
  })

const MerchantLock = Type.Object(
  {
    id: Nullable(
      Type.String({
        description: 'Merchant ID as on its transactions. Null: compared by name.',
        examples: ['000120083521447'],
      }),
    ),
    name: Type.String({
      description: 'Merchant name as on its transactions.',
      examples: ['NETFLIX.COM'],
    }),
  },
  { description: 'The only merchant the card works at.' },
)

export const Card = Type.Object(
  {
    id: Id('card', 'ID of the card.'),
    bin: Type.String({
      description: 'BIN: the first six digits of the card number.',
      examples: ['400000'],
    }),
    last4: Type.String({ description: 'Last four digits of the card number.', examples: ['4242'] }),
    brand: StringEnum(brands, {
      description: 'Card network. Determined by the BIN.',
      examples: ['visa'],
    }),
    type: StringEnum(card_types, { description: 'Virtual or physical.', examples: ['virtual'] }),
    status: StringEnum(card_statuses, {
      description:
        'active: can pay. frozen: declines until unfrozen. cancelled: permanently closed.',
      examples: ['active'],
    }),
    balance_usd: Usd('Available to spend. Amounts on hold are already deducted.'),
    held_usd: Type.Number({ description: 'On hold for approved purchases.', examples: [0] }),
    wallet: Wallet,
    name: Nullable(
      Type.String({ description: 'The name you gave the card.', examples: ['Travel'] }),
    ),
    exp_month: Type.Integer({ description: 'Expiration month.', examples: [11] }),
    exp_year: Type.Integer({ description: 'Expiration year.', examples: [2029] }),
    limits: CardLimits,
    mcc: CardRules,
    geo: CardRules,
    usage: Usage({}),
    merchant_lock: Nullable(MerchantLock),
    valid_until: Nullable(
      Timestamp('The card declines with `card_expired` after this time. Null: no such limit.'),
    ),
    shipping: Nullable(Shipping),
    replaces: Nullable(Id('card', 'The card this one replaced.')),
    replaced_by: Nullable(Id('card', 'The card that replaced this one.')),
    frozen_by: Nullable(
      StringEnum(['owner', 'agent', 'admin'], {
        description:
          'Who froze the card. Only an administrator can undo a freeze by an administrator.',
        examples: ['owner'],
      }),
    ),
    cancel_reason: Nullable(
      StringEnum(['requested', 'replaced', 'lost', 'stolen', 'admin', 'expired', 'used'], {
        description: 'Reason the card was canceled. used: a single-use card made its purchase.',
        examples: ['requested'],
      }),
    ),
    frozen_at: Nullable(Timestamp('Time it was frozen.')),
    cancelled_at: Nullable(Timestamp('Time it was canceled.')),
    metadata: Metadata,
    ...versioned,
  },
  { description: 'A card. The full card number is never included.' },
)
export type Card = Static<typeof Card>

export const CardTransfer = Type.Object(
  {
    id: Id('ctr', 'ID of the transfer.'),
    type: StringEnum(['load', 'unload'], {
      description: 'load: balance to card. unload: card to balance.',
      examples: ['load'],
    }),
    card_id: Id('card', 'The card.'),
    amount_usd: Usd('Amount moved.'),
    fee_usd: Type.Number({ description: 'Fee charged.', examples: [0] }),
    card: Card,
    balance_usd: Usd('Account balance after the transfer.'),
    created_at: Timestamp('Time of the transfer.'),
  },
  { description: 'A transfer between the balance and a card.' },
)
export type CardTransfer = Static<typeof CardTransfer>

export const PanReveal = Type.Object(
  {
    card_id: Id('card', 'The card.'),
    pan: Type.String({ description: 'Full card number.', examples: ['4000000000000002'] }),
    cvv: Type.String({ description: 'Security code.', examples: ['123'] }),
    exp_month: Type.Integer({ description: 'Expiration month.', examples: [11] }),
    exp_year: Type.Integer({ description: 'Expiration year.', examples: [2029] }),
    expiry: Type.String({ description: 'Expiration date as MM/YY.', examples: ['11/29'] }),
    reveal_id: Id('aud', 'Audit log entry of this reveal.'),
    revealed_at: Timestamp('Time of the reveal.'),
  },
  { description: "Sensitive card details. Don't store, log or repeat them." },
)
export type PanReveal = Static<typeof PanReveal>
