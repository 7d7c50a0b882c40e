import Type, { type Static } from 'typebox'
import { AgentList, IdList, StringList } from './filters.ts'
import { operation, scoped } from './operation.ts'
import { routes } from './routes.ts'
import {
  EnumList,
  Id,
  Input,
  Nullable,
  Page,
  pageQuery,
  StringEnum,
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

const Network = StringEnum(['visa', 'mastercard'], {
  description: 'The card network.',
  examples: ['visa'],
})

const ThreeDs = Type.Object(
  {
    result: StringEnum(['none', 'frictionless', 'approved', 'declined', 'timeout'], {
      description: 'Result of cardholder authentication.',
      examples: ['frictionless'],
    }),
    challenge_id: Nullable(Id('chg', 'The challenge, if there was one.')),
  },
  { description: '3-D Secure authentication of an online purchase.' },
)

export const Transaction = Type.Object(
  {
    id: Id('txn', 'ID of the transaction.'),
    card_id: Id('card', 'The card used.'),
    type: StringEnum(transaction_types, {
      description:
        'authorization: approved, the amount is on hold. capture: collected by the merchant. ' +
        'refund: money returned. decline: not approved.',
      examples: ['authorization'],
    }),
    status: StringEnum(transaction_statuses, {
      description:
        'An authorization is pending, captured, partially_captured, reversed or expired. A ' +
        'capture is settled. A refund is settled, or reversed if the merchant took it back. A ' +
        'decline is declined.',
      examples: ['pending'],
    }),
    authorization_id: Nullable(
      Id('txn', 'The authorization of the purchase. Groups the transactions of one purchase.'),
    ),
    amount: Type.Number({
      description: "Amount in the merchant's currency.",
      examples: [23.1],
    }),
    currency: Type.String({
      description: "The merchant's currency (ISO 4217).",
      examples: ['EUR'],
    }),
    amount_usd: Usd('Amount in US dollars.'),
    fx_rate: Nullable(
      Type.String({
        description: 'US dollars per unit of `currency`. Null for USD.',
        examples: ['1.1039'],
      }),
    ),
    fee_usd: Type.Number({ description: 'Fee charged on top of the amount.', examples: [0] }),
    direction: StringEnum(['debit', 'credit'], {
      description:
        'debit: money leaves the card. credit: money returns. Amounts are always positive.',
      examples: ['debit'],
    }),
    merchant_name: Type.String({ description: 'Merchant name.', examples: ['BAHN TICKET'] }),
    mcc: Type.String({ description: 'Merchant category code (four digits).', examples: ['4112'] }),
    merchant_city: Nullable(Type.String({ description: 'Merchant city.', examples: ['BERLIN'] })),
    merchant_country: Nullable(
      Type.String({ description: 'Merchant country (ISO 3166-1 alpha-2).', examples: ['DE'] }),
    ),
    merchant_id: Nullable(
      Type.String({
        description: 'Merchant ID assigned by the acquirer.',
        examples: ['000000012345678'],
      }),
    ),
    terminal_id: Nullable(Type.String({ description: 'Terminal ID.', examples: ['TERM0001'] })),
    held_usd: Type.Number({
      description: 'Amount of an authorization that is still on hold.',
      examples: [25.5],
    }),
    captured_usd: Type.Number({ description: 'Amount captured so far.', examples: [0] }),
    refunded_usd: Type.Number({ description: 'Amount refunded so far.', examples: [0] }),
    decline_code: Nullable(
      Type.String({
        description: 'Reason for the decline: the first check that failed. New codes may be added.',
        examples: ['insufficient_funds'],
      }),
    ),
    decline_message: Nullable(
      Type.String({
        description: 'Reason for the decline, in words.',
        examples: ['The card balance is too low.'],
      }),
    ),
    failed_rules: Type.Array(Type.String({ examples: ['limit_daily'] }), {
      description: 'Every check that failed, as decline codes.',
    }),
    card_present: Type.Boolean({
      description: 'True if the card was physically present.',
      examples: [false],
    }),
    entry_mode: StringEnum(
      ['chip', 'contactless', 'swipe', 'keyed', 'ecommerce', 'credential_on_file'],
      { description: 'How the card number was entered.', examples: ['ecommerce'] },
    ),
    wallet: Nullable(
      StringEnum(['apple_pay', 'google_pay'], {
        description: 'The mobile wallet used.',
        examples: ['apple_pay'],
      }),
    ),
    three_ds: Nullable(ThreeDs),
    network: Network,
    network_transaction_id: Nullable(
      Type.String({
        description: 'Transaction ID of the card network.',
        examples: ['386319000123456'],
      }),
    ),
    retrieval_reference_number: Nullable(
      Type.String({
        description: 'Retrieval reference number (data element 37).',
        examples: ['631909000123'],
      }),
    ),
    authorization_code: Nullable(
      Type.String({ description: 'Approval code (data element 38).', examples: ['A1B2C3'] }),
    ),
    dispute_id: Nullable(Id('dsp', 'The dispute about this transaction, if any.')),
    ...versioned,
    settled_at: Nullable(Timestamp('Time it was settled.')),
    expires_at: Nullable(Timestamp('Time an open authorization expires: 7 days after approval.')),
  },
  { description: 'An authorization, capture, refund or decline.' },
)
export type Transaction = Static<typeof Transaction>

const Elements = (description: string) => Type.Record(Type.String(), Type.String(), { description })

export const AuthDetails = Type.Object(
  {
    transaction_id: Id('txn', 'ID of the transaction.'),
    network: Network,
    iso_version: StringEnum(['1987'], { description: 'Edition of ISO 8583.', examples: ['1987'] }),
    mti: Type.String({ description: 'Message type indicator of the request.', examples: ['0100'] }),
    response_mti: Type.String({
      description: 'Message type indicator of the response.',
      examples: ['0110'],
    }),
    bitmap: Type.String({
      description: 'Bitmap of the request, in hex.',
      examples: ['7234448128e08000'],
    }),
    fields: Elements(
      'Data elements of the request by number, plus 38 and 39 of the response. The card number ' +
        'shows only its first six and last four digits, expiration dates are masked, and track, ' +
        'PIN and chip data (35, 36, 45, 52, 55) is removed.',
    ),
    response_fields: Elements('Data elements of the response by number.'),
    named: Elements('The same data elements by name, such as processing_code.'),
    response_code: Type.String({
      description: 'Response code (data element 39).',
      examples: ['00'],
    }),
    raw_hex: Type.String({
      description: 'The request in hex, masked the same way.',
      examples: ['30313030'],
    }),
    received_at: Timestamp('Time the request was received.'),
  },
  { description: 'The ISO 8583 message of a transaction, masked.' },
)
export type AuthDetails = Static<typeof AuthDetails>

const transactionFilters = {
  type: Type.Optional(EnumList(transaction_types, 'Filter by type.')),
  status: Type.Optional(EnumList(transaction_statuses, 'Filter by status.')),
  mcc: StringList('Filter by merchant category code, or a range such as 5811-5814.', {
    each: '\\d{4}(-\\d{4})?',
    example: '4112',
  }),
  merchant: Type.Optional(
    Type.String({
      description: 'Merchant name contains this text (case-insensitive).',
      minLength: 1,
      maxLength: 100,
      examples: ['bahn'],
    }),
  ),
  country: StringList('Filter by merchant country.', { each: '[A-Z]{2}', example: 'DE' }),
  currency: StringList('Filter by currency.', { each: '[A-Z]{3}', example: 'EUR' }),
  amount_gte: Type.Optional(UsdInput('Minimum amount in US dollars.', { decimals: 6 })),
  amount_lte: Type.Optional(UsdInput('Maximum amount in US dollars.', { decimals: 6 })),
  authorization_id: IdList('txn', 'Filter by purchase: all transactions of this authorization.'),
  dispute_id: IdList('dsp', 'Filter by dispute.'),
}

const TransactionPage = Page(Transaction)

export const list_transactions = operation({
  name: 'list_transactions',
  ...routes.list_transactions,
  status: 200,
  section: 'Transactions',
  summary: 'List card transactions.',
  description:
    'Lists transactions of all cards, including declines. Each authorization, capture, refund ' +
    'and decline is a row; those of one purchase share an `authorization_id`. Filter by card, ' +
    'type, status, merchant, country, currency, amount or date.',
  access: scoped('transaction:read'),
  input: Input({
    ...pageQuery,
    card_id: IdList('card', 'Filter by card.'),
    agent: AgentList,
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
  summary: 'Retrieve a transaction.',
  description:
    'Returns an authorization, capture, refund or decline. Declines list every failed check.',
  access: scoped('transaction:read'),
  input: Input({ id: Id('txn', 'ID of the transaction.') }),
  output: Transaction,
})

export const list_card_transactions = operation({
  name: 'list_card_transactions',
  ...routes.list_card_transactions,
  status: 200,
  section: 'Transactions',
  summary: 'List transactions of a card.',
  description: 'Lists transactions of one card, with the same filters as list_transactions.',
  access: scoped('transaction:read'),
  input: Input({ id: Id('card', 'ID of the card.'), ...pageQuery, ...transactionFilters }),
  output: TransactionPage,
  problems: ['invalid_cursor'],
})

export const get_auth_details = operation({
  name: 'get_auth_details',
  ...routes.get_auth_details,
  status: 200,
  section: 'Transactions',
  summary: 'Retrieve the ISO 8583 message.',
  description:
    'Returns the masked ISO 8583 data elements of a transaction and of the response sent. Use it ' +
    'to find out why a merchant or card network reports something different. Fails with ' +
    '`not_found` for a transaction that has no message.',
  access: scoped('transaction:read'),
  input: Input({ id: Id('txn', 'ID of the transaction.') }),
  output: AuthDetails,
})
