import Type, { type Static } from 'typebox'
import { StringList } from './filters.ts'
import { operation, scoped } from './operation.ts'
import { routes } from './routes.ts'
import {
  EnumList,
  Id,
  Input,
  Metadata,
  MetadataInput,
  Nullable,
  Page,
  pageQuery,
  StringEnum,
  Timestamp,
  Usd,
  UsdInput,
  versioned,
} from './shapes.ts'

const brands = ['visa', 'mastercard'] as const
const card_types = ['virtual', 'physical'] as const
const card_statuses = ['active', 'frozen', 'cancelled'] as const
const shipping_methods = ['standard', 'priority', 'express'] as const

/** Enough for any real policy; longer lists are usually a mistake and slow every authorization. */
const RULES_MAX = 200

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
      StringEnum(['requested', 'replaced', 'lost', 'stolen', 'admin', 'expired'], {
        description: 'Reason the card was canceled.',
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

const limit = (description: string) =>
  Type.Optional(Nullable(UsdInput(`${description} Null: no limit. 0: blocked.`)))

const limitFields = {
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

const mccFields = ruleFields('merchant categories (four digits, or a range like 5811-5814)', [
  '5411',
  '5811-5814',
])
const geoFields = ruleFields('countries (ISO 3166-1 alpha-2)', ['DE', 'FR'])

const strict = { additionalProperties: false } as const

const text = (description: string, length_max: number, example: string) =>
  Type.String({ description, minLength: 1, maxLength: length_max, examples: [example] })

const ShippingInput = Type.Object(
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

const CardId = Id('card', 'ID of the card.')

export const list_cards = operation({
  name: 'list_cards',
  ...routes.list_cards,
  status: 200,
  section: 'Cards',
  summary: 'List cards.',
  description:
    "Lists the account's cards, including canceled ones. Filter by status, type, BIN, brand, " +
    'last four digits or name. Full card numbers are never included.',
  access: scoped('card:read'),
  input: Input({
    ...pageQuery,
    status: Type.Optional(EnumList(card_statuses, 'Filter by status.')),
    type: Type.Optional(EnumList(card_types, 'Filter by type.')),
    bin: StringList('Filter by BIN.', { each: '\\d{6}', example: '400000' }),
    brand: Type.Optional(EnumList(brands, 'Filter by brand.')),
    last4: StringList('Filter by last four digits.', { each: '\\d{4}', example: '4242' }),
    name: Type.Optional(
      Type.String({ description: 'Filter by name (exact match).', examples: ['Travel'] }),
    ),
  }),
  output: Page(Card),
  problems: ['invalid_cursor'],
})

export const issue_card = operation({
  name: 'issue_card',
  ...routes.issue_card,
  status: 201,
  section: 'Cards',
  summary: 'Issue a card.',
  description:
    'Issues a card that is active immediately. `load_usd` also loads it from the balance. Set ' +
    '`limits`, `mcc` and `geo` in this call so the card is never usable without them. A physical ' +
    'card requires `shipping`. Without `bin` the default BIN is used; get_limits lists the BINs ' +
    'and the allowed amounts. Send an Idempotency-Key: without one, every retry issues another ' +
    'card. An OAuth token also needs card:control to send `load_usd`.',
  access: {
    session: true,
    api_key: true,
    oauth: { all: ['card:issue'], with_field: { load_usd: 'card:control' } },
  },
  input: Input({
    type: StringEnum(card_types, { description: 'Virtual or physical.', examples: ['virtual'] }),
    bin: Type.Optional(
      Type.String({
        description:
          'BIN to issue from; determines the brand. Default: the default BIN in get_limits.',
        examples: ['400000'],
      }),
    ),
    load_usd: Type.Optional(UsdInput('Amount to load from the balance right away.')),
    wallet_provision: Type.Optional(
      Type.Array(StringEnum(['apple_pay', 'google_pay']), {
        description: 'Mobile wallets to provision the card for.',
        maxItems: 10,
        examples: [['apple_pay', 'google_pay']],
      }),
    ),
    name: Type.Optional(text('A name to help you recognize the card.', 100, 'Travel')),
    shipping: Type.Optional(ShippingInput),
    limits: Type.Optional(Type.Object(limitFields, { ...strict, description: 'Spending limits.' })),
    mcc: Type.Optional(
      Type.Object(mccFields, {
        ...strict,
        description: 'Merchant categories the card can be used for.',
      }),
    ),
    geo: Type.Optional(
      Type.Object(geoFields, { ...strict, description: 'Countries the card can be used in.' }),
    ),
    metadata: Type.Optional(MetadataInput),
  }),
  output: Card,
  emits: ['card.issued', 'card.loaded'],
  problems: [
    'unsupported_bin',
    'shipping_required',
    'invalid_amount',
    'amount_out_of_range',
    'insufficient_balance',
    'cards_limit_reached',
    'invalid_mcc',
    'invalid_country',
    'kill_switch_active',
  ],
  rejects_values: true,
})

export const get_card = operation({
  name: 'get_card',
  ...routes.get_card,
  status: 200,
  section: 'Cards',
  summary: 'Retrieve a card.',
  description:
    'Returns a card with its status, balance, limits and amounts spent, rules and shipping. For ' +
    'the full card number, use reveal_pan.',
  access: scoped('card:read'),
  input: Input({ id: CardId }),
  output: Card,
})

export const reveal_pan = operation({
  name: 'reveal_pan',
  ...routes.reveal_pan,
  status: 200,
  section: 'Cards',
  summary: 'Reveal the full card number.',
  description:
    'Returns the full card number, security code and expiration date, to make a payment now. ' +
    "Sensitive: don't store or repeat the response. Works once per card number; another call " +
    'fails with `reveal_already_used` unless it sends a new Reveal-Nonce. Up to 5 reveals per ' +
    'card per hour. Every attempt is written to the audit log. Not available to sessions.',
  access: { session: false, api_key: true, oauth: { all: ['card:reveal_pan'] } },
  input: Input({ id: CardId }),
  output: PanReveal,
  headers: {
    'Reveal-Nonce':
      'A new UUID that allows one more reveal of the same card. Each UUID works once.',
  },
  problems: ['card_cancelled', 'reveal_already_used', 'reveal_limit_exceeded'],
  destructive: true,
  refusals_audited_as: 'card.pan_reveal_denied',
})

export const replace_card = operation({
  name: 'replace_card',
  ...routes.replace_card,
  status: 200,
  section: 'Cards',
  summary: 'Replace a card with a new number.',
  description:
    'Issues a new virtual card with a new ID, number and expiration date, and permanently ' +
    'cancels the old one. Available balance, limits and amounts spent, rules, name and metadata ' +
    'move to the new card; amounts on hold stay on the old one. Use this when a card number has ' +
    "leaked. A card frozen by an administrator can't be replaced. Returns the new card. Can't be " +
    'undone.',
  access: scoped('card:issue', 'card:control'),
  input: Input({ id: Id('card', 'The card to replace.') }),
  output: Card,
  emits: ['card.issued', 'card.cancelled'],
  problems: ['card_cancelled', 'policy_denied', 'kill_switch_active'],
  destructive: true,
})

export const load_card = operation({
  name: 'load_card',
  ...routes.load_card,
  status: 200,
  section: 'Cards',
  summary: 'Load a card.',
  description:
    'Moves money from the balance to a card immediately. A frozen card can be loaded, a ' +
    "canceled one can't. To move unspent money back, use unload_card. Send an Idempotency-Key: " +
    'without one, every retry loads the card again.',
  access: scoped('card:control'),
  input: Input({ id: CardId, amount_usd: UsdInput('Amount to move to the card.') }),
  output: CardTransfer,
  emits: ['card.loaded'],
  problems: ['card_cancelled', 'invalid_amount', 'amount_out_of_range', 'insufficient_balance'],
})

export const unload_card = operation({
  name: 'unload_card',
  ...routes.unload_card,
  status: 200,
  section: 'Cards',
  summary: 'Unload a card.',
  description:
    'Moves money from a card back to the balance immediately: `amount_usd`, or the full ' +
    "available balance if you don't send it. Amounts on hold stay on the card. Works for cards " +
    'in any status.',
  access: scoped('card:control'),
  input: Input({
    id: CardId,
    amount_usd: Type.Optional(
      UsdInput('Amount to move back. Default: the full available balance.'),
    ),
  }),
  output: CardTransfer,
  problems: ['invalid_amount', 'amount_out_of_range', 'insufficient_card_balance'],
})

export const freeze_card = operation({
  name: 'freeze_card',
  ...routes.freeze_card,
  status: 200,
  section: 'Cards',
  summary: 'Freeze a card.',
  description:
    'Declines new purchases until the card is unfrozen. Purchases approved earlier still settle, ' +
    'and refunds still arrive. Do this first when something looks wrong. Freezing a frozen card ' +
    'has no effect.',
  access: scoped('card:control'),
  input: Input({ id: CardId }),
  output: Card,
  emits: ['card.frozen'],
  problems: ['card_cancelled'],
  idempotent: true,
})

export const unfreeze_card = operation({
  name: 'unfreeze_card',
  ...routes.unfreeze_card,
  status: 200,
  section: 'Cards',
  summary: 'Unfreeze a card.',
  description:
    'Makes a frozen card usable again. If an administrator froze it, fails with `policy_denied`.',
  access: scoped('card:control'),
  input: Input({ id: CardId }),
  output: Card,
  problems: ['card_not_frozen', 'card_cancelled', 'policy_denied'],
})

export const cancel_card = operation({
  name: 'cancel_card',
  ...routes.cancel_card,
  status: 200,
  section: 'Cards',
  summary: 'Permanently cancel a card.',
  description:
    'Permanently cancels a card. Its available balance returns to the account balance ' +
    "immediately; amounts on hold return when they're released, and later refunds go to the " +
    "account balance. Can't be undone: to stop a card temporarily, use freeze_card. Canceling a " +
    'canceled card has no effect.',
  access: scoped('card:control'),
  input: Input({ id: Id('card', 'The card to cancel.') }),
  output: Card,
  emits: ['card.cancelled'],
  destructive: true,
  idempotent: true,
})

export const set_card_limits = operation({
  name: 'set_card_limits',
  ...routes.set_card_limits,
  status: 200,
  section: 'Cards',
  summary: 'Set spending limits.',
  description:
    'Sets how much a card can spend per purchase, per UTC day and per UTC calendar month. Limits ' +
    "you don't send stay unchanged, null removes a limit, 0 blocks spending. Applies from the " +
    'next purchase.',
  access: scoped('card:control'),
  input: Input({ id: CardId, ...limitFields }),
  output: Card,
  problems: ['card_cancelled', 'invalid_amount', 'amount_out_of_range'],
  idempotent: true,
})

export const set_mcc_rules = operation({
  name: 'set_mcc_rules',
  ...routes.set_mcc_rules,
  status: 200,
  section: 'Cards',
  summary: 'Set allowed merchant categories.',
  description:
    "Sets the merchant category codes (MCC) a card can or can't pay, up to 200 entries per list; " +
    "`deny` wins over `allow`. A list you send replaces the previous one, a list you don't send " +
    'stays unchanged, null removes it. An empty `allow` blocks every merchant.',
  access: scoped('card:control'),
  input: Input({ id: CardId, ...mccFields }),
  output: Card,
  problems: ['card_cancelled', 'invalid_mcc'],
  idempotent: true,
})

export const set_card_geo = operation({
  name: 'set_card_geo',
  ...routes.set_card_geo,
  status: 200,
  section: 'Cards',
  summary: 'Set allowed countries.',
  description:
    "Sets the merchant countries a card can or can't be used in, up to 200 entries per list; " +
    "`deny` wins over `allow`. A list you send replaces the previous one, a list you don't send " +
    'stays unchanged, null removes it. An empty `allow` blocks every country.',
  access: scoped('card:control'),
  input: Input({ id: CardId, ...geoFields }),
  output: Card,
  problems: ['card_cancelled', 'invalid_country'],
  idempotent: true,
})
