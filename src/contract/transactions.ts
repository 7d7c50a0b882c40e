import Type, { type Static } from 'typebox'
import { Several, SeveralIds } from './filters.ts'
import { operation, scoped } from './operation.ts'
import { routes } from './routes.ts'
import {
  Id,
  Input,
  ListOf,
  Nullable,
  OneOf,
  Page,
  pageQuery,
  Timestamp,
  Usd,
  UsdInput,
  versioned,
} from './shapes.ts'

const transaction_types = ['authorization', 'capture', 'refund', 'decline'] as const
const transaction_statuses = [
  'pending',
  'captured',
  'partially_captured',
  'reversed',
  'expired',
  'settled',
  'declined',
] as const

const Network = OneOf(['visa', 'mastercard'], {
  description: 'The card network.',
  examples: ['visa'],
})

const ThreeDs = Type.Object(
  {
    result: OneOf(['none', 'frictionless', 'approved', 'declined', 'timeout'], {
      description: 'How the cardholder was checked.',
      examples: ['frictionless'],
    }),
    challenge_id: Nullable(Id('chg', 'The challenge, if there was one.')),
  },
  { description: '3-D Secure, for purchases online.' },
)

export const Transaction = Type.Object(
  {
    id: Id('txn', 'The transaction.'),
    card_id: Id('card', 'The card.'),
    type: OneOf(transaction_types, {
      description:
        'authorization: approved, the amount is held. capture: settled by the merchant. refund: ' +
        'money back. decline: refused.',
      examples: ['authorization'],
    }),
    status: OneOf(transaction_statuses, {
      description:
        'Of an authorization: pending, captured, partially_captured, reversed or expired. ' +
        'Captures are settled, refunds settled or, if the merchant took one back, reversed. ' +
        'Declines are declined.',
      examples: ['pending'],
    }),
    authorization_id: Nullable(
      Id('txn', 'The authorization of the purchase; it groups what belongs together.'),
    ),
    amount: Type.Number({
      description: "The amount in the merchant's currency.",
      examples: [23.1],
    }),
    currency: Type.String({ description: "The merchant's currency.", examples: ['EUR'] }),
    amount_usd: Usd('The amount in dollars.'),
    fx_rate: Nullable(
      Type.String({
        description: 'Dollars per unit of the currency; null for dollars.',
        examples: ['1.1039'],
      }),
    ),
    fee_usd: Type.Number({ description: 'What it cost on top.', examples: [0] }),
    direction: OneOf(['debit', 'credit'], {
      description: 'debit: leaves the card. credit: comes to it. Amounts are positive either way.',
      examples: ['debit'],
    }),
    merchant_name: Type.String({ description: 'The merchant.', examples: ['BAHN TICKET'] }),
    mcc: Type.String({ description: 'The merchant category, four digits.', examples: ['4112'] }),
    merchant_city: Nullable(Type.String({ description: 'Its city.', examples: ['BERLIN'] })),
    merchant_country: Nullable(
      Type.String({ description: 'Its country, ISO 3166-1 alpha-2.', examples: ['DE'] }),
    ),
    merchant_id: Nullable(
      Type.String({ description: 'The id its bank gave it.', examples: ['000000012345678'] }),
    ),
    terminal_id: Nullable(Type.String({ description: 'The terminal.', examples: ['TERM0001'] })),
    held_usd: Type.Number({
      description: 'Of an authorization: what is still held for it.',
      examples: [25.5],
    }),
    captured_usd: Type.Number({ description: 'Captured so far.', examples: [0] }),
    refunded_usd: Type.Number({ description: 'Refunded so far.', examples: [0] }),
    decline_code: Nullable(
      Type.String({
        description: 'Why it was declined: the first check that failed. More codes may be added.',
        examples: ['insufficient_funds'],
      }),
    ),
    decline_message: Nullable(
      Type.String({
        description: 'The same in words.',
        examples: ['The card does not hold enough for this purchase.'],
      }),
    ),
    failed_rules: Type.Array(Type.String({ examples: ['limit_daily'] }), {
      description: 'Every check that failed, as decline codes.',
    }),
    card_present: Type.Boolean({
      description: 'Whether the card was there.',
      examples: [false],
    }),
    entry_mode: OneOf(
      ['chip', 'contactless', 'swipe', 'keyed', 'ecommerce', 'credential_on_file'],
      { description: 'How the number was read.', examples: ['ecommerce'] },
    ),
    wallet: Nullable(
      OneOf(['apple_pay', 'google_pay'], {
        description: 'The mobile wallet it was paid with.',
        examples: ['apple_pay'],
      }),
    ),
    three_ds: Nullable(ThreeDs),
    network: Network,
    network_transaction_id: Nullable(
      Type.String({ description: "The network's own id.", examples: ['386319000123456'] }),
    ),
    retrieval_reference_number: Nullable(
      Type.String({ description: 'Data element 37.', examples: ['631909000123'] }),
    ),
    authorization_code: Nullable(
      Type.String({ description: 'Data element 38 of the approval.', examples: ['A1B2C3'] }),
    ),
    dispute_id: Nullable(Id('dsp', 'The dispute about it, if any.')),
    ...versioned,
    settled_at: Nullable(Timestamp('When it was settled.')),
    expires_at: Nullable(Timestamp('When an open authorization is given back: after 7 days.')),
  },
  { description: 'One event of a purchase: an authorization, capture, refund or decline.' },
)
export type Transaction = Static<typeof Transaction>

const Elements = (description: string) => Type.Record(Type.String(), Type.String(), { description })

export const AuthDetails = Type.Object(
  {
    transaction_id: Id('txn', 'The transaction.'),
    network: Network,
    iso_version: OneOf(['1987'], { description: 'The edition of ISO 8583.', examples: ['1987'] }),
    mti: Type.String({ description: 'The type of the message.', examples: ['0100'] }),
    response_mti: Type.String({ description: 'The type of the answer.', examples: ['0110'] }),
    bitmap: Type.String({
      description: 'Which elements the message has, in hex.',
      examples: ['7234448128e08000'],
    }),
    fields: Elements(
      'The data elements by number, as they came, with 38 and 39 of the answer. The card number ' +
        'shows its first six and last four digits, the expiry is masked, and tracks, PIN and ' +
        'chip data (35, 36, 45, 52, 55) are left out.',
    ),
    response_fields: Elements("The answer's data elements by number."),
    named: Elements('The same elements by name, such as processing_code.'),
    response_code: Type.String({ description: 'Data element 39 of the answer.', examples: ['00'] }),
    raw_hex: Type.String({
      description: 'The message in hex, masked in the same way.',
      examples: ['30313030'],
    }),
    received_at: Timestamp('When the message came.'),
  },
  { description: 'The ISO 8583 message behind a transaction, masked.' },
)
export type AuthDetails = Static<typeof AuthDetails>

const transactionFilters = {
  type: Type.Optional(ListOf(transaction_types, 'Only of these types.')),
  status: Type.Optional(ListOf(transaction_statuses, 'Only in these states.')),
  mcc: Several('Only with this merchant category.', { each: '\\d{4}', example: '4112' }),
  merchant: Type.Optional(
    Type.String({
      description: 'Only where the name of the merchant holds this, in any case.',
      minLength: 1,
      maxLength: 100,
      examples: ['bahn'],
    }),
  ),
  country: Several('Only from merchants in this country.', { each: '[A-Z]{2}', example: 'DE' }),
  currency: Several('Only in this currency.', { each: '[A-Z]{3}', example: 'EUR' }),
  amount_gte: Type.Optional(UsdInput('Only of at least this many dollars.', { decimals: 6 })),
  amount_lte: Type.Optional(UsdInput('Only of at most this many dollars.', { decimals: 6 })),
  authorization_id: SeveralIds('txn', 'Only what belongs to this authorization.'),
  dispute_id: SeveralIds('dsp', 'Only what this dispute is about.'),
}

const TransactionPage = Page(Transaction)

export const list_transactions = operation({
  name: 'list_transactions',
  ...routes.list_transactions,
  status: 200,
  section: 'Transactions',
  summary: 'List card transactions.',
  description:
    'What was paid with all cards, declines included, one row per event: a purchase is an ' +
    'authorization and its captures and refunds, grouped by authorization_id. Filter by card, ' +
    'type, state, merchant, country, currency, amount and date.',
  access: scoped('transaction:read'),
  input: Input({
    ...pageQuery,
    card_id: SeveralIds('card', 'Only with this card.'),
    ...transactionFilters,
  }),
  output: TransactionPage,
  problems: ['invalid_cursor'],
})

export const get_transaction = operation({
  name: 'get_transaction',
  ...routes.get_transaction,
  status: 200,
  section: 'Transactions',
  summary: 'Read a transaction.',
  description: 'One authorization, capture, refund or decline. A decline says which checks failed.',
  access: scoped('transaction:read'),
  input: Input({ id: Id('txn', 'The transaction.') }),
  output: Transaction,
})

export const list_card_transactions = operation({
  name: 'list_card_transactions',
  ...routes.list_card_transactions,
  status: 200,
  section: 'Transactions',
  summary: "List one card's transactions.",
  description: 'The same as list_transactions, for one card.',
  access: scoped('transaction:read'),
  input: Input({ id: Id('card', 'The card.'), ...pageQuery, ...transactionFilters }),
  output: TransactionPage,
  problems: ['invalid_cursor'],
})

export const get_auth_details = operation({
  name: 'get_auth_details',
  ...routes.get_auth_details,
  status: 200,
  section: 'Transactions',
  summary: 'Read the raw authorization message.',
  description:
    'The ISO 8583 data elements behind a transaction, masked, with the answer that was given. ' +
    'For finding out why a merchant or a network says something else. A transaction without a ' +
    'message of its own answers `not_found`.',
  access: scoped('transaction:read'),
  input: Input({ id: Id('txn', 'The transaction.') }),
  output: AuthDetails,
})
