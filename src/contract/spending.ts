import Type, { type Static } from 'typebox'
import { operation, scoped } from './operation.ts'
import { routes } from './routes.ts'
import { Id, Input, StringEnum, Usd } from './shapes.ts'

const spending_groups = ['day', 'week', 'month', 'category', 'merchant', 'country', 'card'] as const
export type SpendingGroup = (typeof spending_groups)[number]

/** The longest range of a report, in days. */
export const SPENDING_DAYS_MAX = 400

const Day = (description: string, example: string) =>
  Type.String({
    pattern: '^\\d{4}-\\d{2}-\\d{2}$',
    maxLength: 10,
    description,
    examples: [example],
  })

const GroupBy = (description: string) =>
  StringEnum(spending_groups, { description, examples: ['category'] })

const SpendingRow = Type.Object({
  key: Type.String({
    description:
      'The group: a day, the Monday of a week, a month (YYYY-MM), a category, a merchant name, a ' +
      'country code (`unknown` if the merchant sent none) or a card ID.',
    examples: ['groceries'],
  }),
  label: Type.String({ description: 'The group, for people.', examples: ['Groceries'] }),
  purchases: Type.Integer({ description: 'Number of purchases captured.', examples: [3] }),
  spent_usd: Usd('Amount captured.'),
  refunded_usd: Type.Number({ description: 'Amount refunded.', examples: [4.5] }),
  net_usd: Type.Number({
    description: '`spent_usd` minus `refunded_usd`.',
    examples: [21],
  }),
})

export const Spending = Type.Object(
  {
    from: Type.String({ description: 'First day of the report.', examples: ['2026-11-01'] }),
    to: Type.String({ description: 'Last day of the report.', examples: ['2026-11-30'] }),
    group_by: GroupBy('How the rows are grouped.'),
    total_usd: Usd('Amount captured in the whole range, before refunds.'),
    refunded_usd: Type.Number({
      description: 'Amount refunded in the whole range.',
      examples: [4.5],
    }),
    declined_count: Type.Integer({ description: 'Number of declined purchases.', examples: [1] }),
    data: Type.Array(SpendingRow, {
      description:
        'Groups with purchases or refunds. Days, weeks and months are in order of time; other ' +
        'groups have the largest amount first.',
    }),
  },
  { description: 'Card spending in a range of days.' },
)
export type Spending = Static<typeof Spending>

export const get_spending = operation({
  name: 'get_spending',
  ...routes.get_spending,
  status: 200,
  section: 'Transactions',
  summary: 'Retrieve card spending.',
  description:
    'Returns captured purchases and refunds of a range of days (UTC), in total and by day, week, ' +
    'month, category, merchant, country or card. Amounts on hold are not included until the ' +
    'merchant captures them. Use it to see where the money went.',
  access: scoped('transaction:read'),
  input: Input({
    from: Day('First day (UTC).', '2026-11-01'),
    to: Day(`Last day (UTC), inclusive. At most ${SPENDING_DAYS_MAX} days.`, '2026-11-30'),
    group_by: GroupBy('Group rows by this.'),
    card_id: Type.Optional(Id('card', 'Only this card.')),
  }),
  output: Spending,
  problems: ['not_found'],
})
