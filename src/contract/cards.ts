import Type, { type Static } from 'typebox'
import { Several } from './filters.ts'
import { operation, scoped } from './operation.ts'
import { routes } from './routes.ts'
import {
  Id,
  Input,
  ListOf,
  Metadata,
  MetadataInput,
  Nullable,
  OneOf,
  Page,
  pageQuery,
  Timestamp,
  Usd,
  UsdInput,
  versioned,
} from './shapes.ts'

const brands = ['visa', 'mastercard'] as const
const card_types = ['virtual', 'physical'] as const
const card_statuses = ['active', 'frozen', 'cancelled'] as const
const shipping_methods = ['standard', 'priority', 'express'] as const

/** More merchants or countries than these are not a rule but a list somebody forgot about. */
const RULES_MAX = 200

const walletState = (name: string) =>
  OneOf(['ready', 'pending', 'unsupported'], {
    description: `ready: can be added to ${name}. pending: being prepared.`,
    examples: ['ready'],
  })

export const Wallet = Type.Object(
  { apple_pay: walletState('Apple Pay'), google_pay: walletState('Google Pay') },
  { description: 'Whether the card can be added to mobile wallets.' },
)
export type Wallet = Static<typeof Wallet>

export const CardLimits = Type.Object(
  {
    per_transaction_usd: Nullable(Usd('The most a purchase may cost; null: no limit, 0: block.')),
    daily_usd: Nullable(Usd('The most per UTC day; null: no limit, 0: block.')),
    monthly_usd: Nullable(Usd('The most per UTC calendar month; null: no limit, 0: block.')),
    spent: Type.Object(
      {
        daily_usd: Usd('Spent this UTC day.'),
        monthly_usd: Usd('Spent this UTC month.'),
        daily_resets_at: Timestamp('When the day ends.'),
        monthly_resets_at: Timestamp('When the month ends.'),
      },
      {
        description:
          'What counts against the limits: approved authorizations, less reversals and expiries. ' +
          'Refunds give nothing back.',
      },
    ),
  },
  { description: 'How much the card may spend.' },
)
export type CardLimits = Static<typeof CardLimits>

export const CardRules = Type.Object(
  {
    allow: Nullable(
      Type.Array(Type.String(), { description: 'Only these; null: all, empty: none.' }),
    ),
    deny: Nullable(Type.Array(Type.String(), { description: 'Never these; wins over allow.' })),
  },
  {
    description:
      'Where the card may be used. Merchant categories are four digits or a range such as ' +
      '5811-5814; countries are ISO 3166-1 alpha-2 codes.',
  },
)
export type CardRules = Static<typeof CardRules>

export const Shipping = Type.Object(
  {
    name: Type.String({ description: 'Who receives it.', examples: ['Ada Lovelace'] }),
    line1: Type.String({ description: 'Street and number.', examples: ['12 St James Square'] }),
    line2: Nullable(Type.String({ description: 'Flat, floor.', examples: ['Flat 3'] })),
    city: Type.String({ description: 'City.', examples: ['London'] }),
    state: Nullable(Type.String({ description: 'State or province.', examples: ['England'] })),
    postal_code: Type.String({ description: 'Postal code.', examples: ['SW1Y 4JH'] }),
    country: Type.String({ description: 'ISO 3166-1 alpha-2 code.', examples: ['GB'] }),
    phone: Nullable(Type.String({ description: 'For the carrier.', examples: ['+442079460000'] })),
    method: OneOf(shipping_methods, { description: 'How it is sent.', examples: ['standard'] }),
    status: OneOf(
      ['pending', 'submitted', 'shipped', 'delivered', 'returned', 'failed', 'cancelled'],
      { description: 'How far it has come.', examples: ['pending'] },
    ),
    carrier: Nullable(Type.String({ description: 'Who carries it.', examples: ['Royal Mail'] })),
    tracking_number: Nullable(
      Type.String({ description: "The carrier's number.", examples: ['RM123456789GB'] }),
    ),
    tracking_url: Nullable(
      Type.String({
        description: 'Where to follow it.',
        examples: ['https://carrier.example/track/RM123456789GB'],
      }),
    ),
    shipped_at: Nullable(Timestamp('When it left.')),
    delivered_at: Nullable(Timestamp('When it arrived.')),
  },
  { description: 'Where a physical card is sent and how far it has come.' },
)
export type Shipping = Static<typeof Shipping>

export const Card = Type.Object(
  {
    id: Id('card', 'The card.'),
    bin: Type.String({
      description: 'The first six digits of its number: the issuer BIN.',
      examples: ['400000'],
    }),
    last4: Type.String({ description: 'The last four digits.', examples: ['4242'] }),
    brand: OneOf(brands, { description: 'The network; it follows the BIN.', examples: ['visa'] }),
    type: OneOf(card_types, { description: 'Virtual or physical.', examples: ['virtual'] }),
    status: OneOf(card_statuses, {
      description: 'active: can pay. frozen: declines until unfrozen. cancelled: ended for good.',
      examples: ['active'],
    }),
    balance_usd: Usd('What can be spent; what is held for purchases is already taken off.'),
    held_usd: Type.Number({ description: 'Held for approved purchases.', examples: [0] }),
    wallet: Wallet,
    name: Nullable(Type.String({ description: 'What you called it.', examples: ['Travel'] })),
    exp_month: Type.Integer({ description: 'The month it expires in.', examples: [11] }),
    exp_year: Type.Integer({ description: 'The year it expires in.', examples: [2029] }),
    limits: CardLimits,
    mcc: CardRules,
    geo: CardRules,
    shipping: Nullable(Shipping),
    replaces: Nullable(Id('card', 'The card it took the place of.')),
    replaced_by: Nullable(Id('card', 'The card that took its place.')),
    frozen_by: Nullable(
      OneOf(['owner', 'agent', 'admin'], {
        description: 'Who froze it. What an administrator froze only an administrator unfreezes.',
        examples: ['owner'],
      }),
    ),
    cancel_reason: Nullable(
      OneOf(['requested', 'replaced', 'lost', 'stolen', 'admin', 'expired'], {
        description: 'Why it was cancelled.',
        examples: ['requested'],
      }),
    ),
    frozen_at: Nullable(Timestamp('When it was frozen.')),
    cancelled_at: Nullable(Timestamp('When it was cancelled.')),
    metadata: Metadata,
    ...versioned,
  },
  { description: 'A payment card, without its full number.' },
)
export type Card = Static<typeof Card>

export const CardTransfer = Type.Object(
  {
    id: Id('ctr', 'The transfer.'),
    type: OneOf(['load', 'unload'], {
      description: 'load: balance to card. unload: card to balance.',
      examples: ['load'],
    }),
    card_id: Id('card', 'The card.'),
    amount_usd: Usd('What was moved.'),
    fee_usd: Type.Number({ description: 'What it cost.', examples: [0] }),
    card: Card,
    balance_usd: Usd('The balance of the account after it.'),
    created_at: Timestamp('When it was made.'),
  },
  { description: 'Funds moved between the balance and a card.' },
)
export type CardTransfer = Static<typeof CardTransfer>

export const PanReveal = Type.Object(
  {
    card_id: Id('card', 'The card.'),
    pan: Type.String({ description: 'The full card number.', examples: ['4000000000000002'] }),
    cvv: Type.String({ description: 'The security code.', examples: ['123'] }),
    exp_month: Type.Integer({ description: 'The month it expires in.', examples: [11] }),
    exp_year: Type.Integer({ description: 'The year it expires in.', examples: [2029] }),
    expiry: Type.String({ description: 'The same as MM/YY.', examples: ['11/29'] }),
    reveal_id: Id('aud', 'This reveal, as it stands in the audit log.'),
    revealed_at: Timestamp('When it was revealed.'),
  },
  { description: 'The secret details of a card. Do not store, log or repeat them.' },
)
export type PanReveal = Static<typeof PanReveal>

const limit = (description: string) =>
  Type.Optional(Nullable(UsdInput(`${description} Null: no limit, 0: block.`)))

const limitFields = {
  per_transaction_usd: limit('The most a purchase may cost.'),
  daily_usd: limit('The most per UTC day.'),
  monthly_usd: limit('The most per UTC calendar month.'),
}

const ruleFields = (what: string, example: string[]) => {
  const Entries = (description: string) =>
    Type.Optional(
      Nullable(
        Type.Array(Type.String(), { description, maxItems: RULES_MAX, examples: [example] }),
      ),
    )
  return {
    allow: Entries(`Only these ${what}. Null: all, empty: none.`),
    deny: Entries(`Never these ${what}; wins over allow. Null: none.`),
  }
}

const mccFields = ruleFields('merchant categories: four digits, or a range such as 5811-5814', [
  '5411',
  '5811-5814',
])
const geoFields = ruleFields('countries, as ISO 3166-1 alpha-2 codes', ['DE', 'FR'])

const strict = { additionalProperties: false } as const

const text = (description: string, length_max: number, example: string) =>
  Type.String({ description, minLength: 1, maxLength: length_max, examples: [example] })

const ShippingInput = Type.Object(
  {
    name: text('Who receives it.', 100, 'Ada Lovelace'),
    line1: text('Street and number.', 200, '12 St James Square'),
    line2: Type.Optional(Nullable(text('Flat, floor.', 200, 'Flat 3'))),
    city: text('City.', 100, 'London'),
    state: Type.Optional(Nullable(text('State or province.', 100, 'England'))),
    postal_code: text('Postal code.', 20, 'SW1Y 4JH'),
    country: Type.String({ description: 'ISO 3166-1 alpha-2 code.', examples: ['GB'] }),
    phone: Type.Optional(Nullable(text('For the carrier.', 40, '+442079460000'))),
    method: Type.Optional(
      OneOf(shipping_methods, {
        description: 'How it is sent.',
        default: 'standard',
        examples: ['standard'],
      }),
    ),
  },
  { ...strict, description: 'Where to send a physical card; required for one.' },
)

const CardId = Id('card', 'The card.')

export const list_cards = operation({
  name: 'list_cards',
  ...routes.list_cards,
  status: 200,
  section: 'Cards',
  summary: 'List cards.',
  description:
    'The cards of the account, cancelled ones too, by state, type, BIN, brand, last digits and ' +
    'name. Full numbers are never in a list.',
  access: scoped('card:read'),
  input: Input({
    ...pageQuery,
    status: Type.Optional(ListOf(card_statuses, 'Only cards in these states.')),
    type: Type.Optional(ListOf(card_types, 'Only of these types.')),
    bin: Several('Only with this BIN.', { each: '\\d{6}', example: '400000' }),
    brand: Type.Optional(ListOf(brands, 'Only of these brands.')),
    last4: Several('Only ending in these digits.', { each: '\\d{4}', example: '4242' }),
    name: Type.Optional(
      Type.String({ description: 'Only with exactly this name.', examples: ['Travel'] }),
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
    'Issues a card that is active at once, and loads it from the balance when `load_usd` is ' +
    'sent. Set `limits`, `mcc` and `geo` here so that the card is never without them. A physical ' +
    'card needs `shipping`. Without `bin` the programme chooses; get_limits lists the BINs and ' +
    'the bounds. Pass an Idempotency-Key: each call without one is another card. A token needs ' +
    'card:control too when it loads.',
  access: {
    session: true,
    api_key: true,
    oauth: { all: ['card:issue'], with_field: { load_usd: 'card:control' } },
  },
  input: Input({
    type: OneOf(card_types, { description: 'Virtual or physical.', examples: ['virtual'] }),
    bin: Type.Optional(
      Type.String({
        description: 'The issuer BIN; it decides the brand. Absent: the default.',
        examples: ['400000'],
      }),
    ),
    load_usd: Type.Optional(UsdInput('What to load from the balance at once.')),
    wallet_provision: Type.Optional(
      Type.Array(OneOf(['apple_pay', 'google_pay']), {
        description: 'The mobile wallets to prepare the card for.',
        maxItems: 10,
        examples: [['apple_pay', 'google_pay']],
      }),
    ),
    name: Type.Optional(text('A name to recognise it by.', 100, 'Travel')),
    shipping: Type.Optional(ShippingInput),
    limits: Type.Optional(
      Type.Object(limitFields, { ...strict, description: 'How much the card may spend.' }),
    ),
    mcc: Type.Optional(
      Type.Object(mccFields, { ...strict, description: 'Which merchants it may be used at.' }),
    ),
    geo: Type.Optional(
      Type.Object(geoFields, { ...strict, description: 'Which countries it may be used in.' }),
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
  summary: 'Read a card.',
  description:
    'One card: state, balance, limits with what is spent, rules, shipping. Not its full number; ' +
    'that is reveal_pan.',
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
    'The full number, security code and expiry, to pay with now. Sensitive: it works once per ' +
    'card number, every attempt is written to the audit log, and the answer must not be stored ' +
    'or repeated. A second call answers `reveal_already_used` unless it carries a fresh ' +
    'Reveal-Nonce; at most 5 reveals per card and hour. A session may not call it.',
  access: { session: false, api_key: true, oauth: { all: ['card:reveal_pan'] } },
  input: Input({ id: CardId }),
  output: PanReveal,
  headers: {
    'Reveal-Nonce':
      'A fresh UUID that allows one more reveal of a card already revealed. Each works once.',
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
    'Issues a new virtual card with a new id, number and expiry, and cancels the old one for ' +
    'good. Spendable balance, limits and what is spent of them, rules, name and metadata move; ' +
    'what is held for purchases stays with the old card. Use it when a number has leaked. ' +
    'A card that an administrator froze cannot be replaced. Returns the new card. Cannot be ' +
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
  summary: 'Move funds from the balance onto a card.',
  description:
    'Moves USDT from the balance onto a card, at once. A frozen card may be loaded, a cancelled ' +
    'one may not. unload_card brings back what was not spent. Pass an Idempotency-Key: each call ' +
    'without one loads again.',
  access: scoped('card:control'),
  input: Input({ id: CardId, amount_usd: UsdInput('What to move onto the card.') }),
  output: CardTransfer,
  emits: ['card.loaded'],
  problems: ['card_cancelled', 'invalid_amount', 'amount_out_of_range', 'insufficient_balance'],
})

export const unload_card = operation({
  name: 'unload_card',
  ...routes.unload_card,
  status: 200,
  section: 'Cards',
  summary: 'Move unused funds from a card back to the balance.',
  description:
    'Moves funds from a card back to the balance, at once: the amount, or all that can be spent ' +
    'when none is sent. What is held for purchases stays. Works in every state of the card.',
  access: scoped('card:control'),
  input: Input({
    id: CardId,
    amount_usd: Type.Optional(UsdInput('What to move back. Absent: all that can be spent.')),
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
    'New purchases are declined until the card is unfrozen; what was approved before still ' +
    'settles, and refunds still arrive. The thing to do first when something looks wrong. ' +
    'Freezing a frozen card changes nothing.',
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
    'Makes a frozen card usable again. What an administrator froze stays frozen: `policy_denied`.',
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
  summary: 'Cancel a card for good.',
  description:
    'Ends a card. What can be spent returns to the balance at once; what is held for purchases ' +
    'follows as it is released, and later refunds go to the balance. Cannot be undone: to stop a ' +
    'card for a while use freeze_card. Cancelling a cancelled card changes nothing.',
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
  summary: 'Set spend limits.',
  description:
    'Sets how much a card may spend per purchase, per UTC day and per UTC month. What is not ' +
    'sent stays; null takes a limit away; 0 blocks. Holds for the next purchase on.',
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
  summary: 'Set which merchant categories a card may pay.',
  description:
    'Sets the merchant categories (MCC) to allow or deny, at most 200 entries each; deny wins. ' +
    'What is not sent stays; a list that is sent replaces the one before; null clears it. An ' +
    'empty `allow` blocks every merchant.',
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
  summary: 'Set which countries a card may be used in.',
  description:
    'Sets the countries to allow or deny, by the country of the merchant, at most 200 entries ' +
    'each; deny wins. What is not sent stays; a list that is sent replaces the one before; null ' +
    'clears it. An empty `allow` blocks every country.',
  access: scoped('card:control'),
  input: Input({ id: CardId, ...geoFields }),
  output: Card,
  problems: ['card_cancelled', 'invalid_country'],
  idempotent: true,
})
