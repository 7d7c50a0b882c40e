import Type from 'typebox'
import {
  CardId,
  geoFields,
  limitFields,
  MerchantLockInput,
  mccFields,
  ShippingInput,
  strict,
  text,
} from './card_inputs.ts'
import { brands, Card, CardTransfer, card_statuses, card_types, PanReveal, Usage } from './cards.ts'
import { AgentList, StringList } from './filters.ts'
import { operation, scoped } from './operation.ts'
import { routes } from './routes.ts'
import {
  EnumList,
  Id,
  Input,
  MetadataInput,
  Nullable,
  Page,
  pageQuery,
  StringEnum,
  Timestamp,
  UsdInput,
} from './shapes.ts'

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
    name: Type.Optional(text('Filter by name (exact match).', 100, 'Travel')),
    agent: AgentList,
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
    '`limits`, `mcc` and `geo` in this call so the card is never usable without them. `usage` ' +
    'makes a card for one purchase (single_use) or for one merchant (merchant_locked); ' +
    '`valid_until` ends its purchases at a time. A physical card requires `shipping`. Without ' +
    '`bin` the default BIN is used; get_limits lists the BINs and the allowed amounts. Send an ' +
    'Idempotency-Key: without one, every retry issues another card. An OAuth token also needs ' +
    'card:control to send `load_usd`.',
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
    usage: Type.Optional(Usage({ default: 'reusable', examples: ['single_use'] })),
    merchant_lock: Type.Optional(MerchantLockInput),
    valid_until: Type.Optional(
      Timestamp('Decline authorizations after this time: 1 hour to 5 years from now.'),
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
    'invalid_merchant_lock',
    'kill_switch_active',
    'approval_required',
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
    'cancels the old one. Available balance, limits and amounts spent, rules, usage, merchant ' +
    'lock, valid-until date, name and metadata move to the new card; amounts on hold stay on the ' +
    'old one. Use this when a card number has leaked. A card frozen by an administrator and a ' +
    "single-use card that was used can't be replaced. Returns the new card. Can't be undone.",
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
  problems: [
    'card_cancelled',
    'invalid_amount',
    'amount_out_of_range',
    'insufficient_balance',
    'approval_required',
  ],
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

export const update_card = operation({
  name: 'update_card',
  ...routes.update_card,
  status: 200,
  section: 'Cards',
  summary: 'Rename a card or change its metadata.',
  description:
    "Changes the name and metadata of a card in any status. A field you don't send stays " +
    'unchanged, null clears it. Metadata you send replaces all previous pairs.',
  access: scoped('card:control'),
  input: Input({
    id: CardId,
    name: Type.Optional(Nullable(text('New name, to help you recognize the card.', 100, 'Travel'))),
    metadata: Type.Optional(Nullable(MetadataInput)),
  }),
  output: Card,
  idempotent: true,
})
