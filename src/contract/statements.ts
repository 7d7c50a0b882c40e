import Type, { type Static } from 'typebox'
import { operation, scoped } from './operation.ts'
import { routes } from './routes.ts'
import { Input, Page, pageQuery, Usd } from './shapes.ts'

/** Kinds of money in and out of an account. A statement has the sum of each as `<kind>_usd`. */
export const statement_kinds = [
  'deposits',
  'withdrawals',
  'spent',
  'refunds',
  'disputes',
  'fees',
  'other',
] as const
export type StatementKind = (typeof statement_kinds)[number]

/** As the panel and the PDF name them. */
export const statement_kind_labels: Readonly<Record<StatementKind, string>> = {
  deposits: 'Deposits',
  withdrawals: 'Withdrawals',
  spent: 'Purchases',
  refunds: 'Refunds',
  disputes: 'Disputes',
  fees: 'Fees',
  other: 'Other',
}

const Signed = (description: string, example: number) =>
  Type.Number({ description, examples: [example] })

export const Statement = Type.Object(
  {
    period: Type.String({ description: 'The calendar month (UTC).', examples: ['2026-11'] }),
    is_final: Type.Boolean({
      description:
        'True if nothing can be added anymore: from five minutes after the end of the month.',
      examples: [true],
    }),
    opening_usd: Usd('Balance plus cards, holds included, at the start of the month.'),
    deposits_usd: Signed('Top-ups.', 100),
    withdrawals_usd: Signed(
      'Withdrawals without their fees, less those that failed and came back.',
      -29,
    ),
    spent_usd: Signed('Captured purchases.', -12),
    refunds_usd: Signed('Refunds of purchases, and credits for paid calls that failed.', 2),
    disputes_usd: Signed('Credits for disputes, less those taken back.', 0),
    fees_usd: Signed('Withdrawal fees.', -1),
    other_usd: Signed('Payments of what you owed, and corrections by the operator.', 0),
    closing_usd: Type.Number({
      description:
        'Balance plus cards, holds included, at the end of the month: the opening balance plus ' +
        'every kind. In the current month it is `total_usd` of get_balance.',
      examples: [85.5],
    }),
    csv_url: Type.String({
      description: 'Every movement of the month as CSV. Send the same bearer.',
      examples: ['https://florin.example/files/statements/2026-11.csv'],
    }),
    pdf_url: Type.String({
      description: 'The statement as PDF. Send the same bearer.',
      examples: ['https://florin.example/files/statements/2026-11.pdf'],
    }),
  },
  {
    description:
      'A monthly account statement. Amounts are signed: negative if money left the account.',
  },
)
export type Statement = Static<typeof Statement>

export const list_statements = operation({
  name: 'list_statements',
  ...routes.list_statements,
  status: 200,
  section: 'Balance',
  summary: 'List monthly statements.',
  description:
    'Lists one statement per calendar month (UTC) since the account was created, over the ' +
    'balance and all cards together. Loads, unloads and holds move money inside the account, so ' +
    "they don't appear. Opening balance plus all kinds equals the closing balance. The date " +
    'filters compare with the start of the month.',
  access: scoped('balance:read', 'transaction:read'),
  input: Input({ ...pageQuery }),
  output: Page(Statement),
  problems: ['invalid_cursor'],
})
