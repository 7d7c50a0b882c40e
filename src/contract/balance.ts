import Type, { type Static } from 'typebox'
import { StringList } from './filters.ts'
import { operation, scoped } from './operation.ts'
import { routes } from './routes.ts'
import { EnumList, Id, Input, Page, pageQuery, StringEnum, Timestamp, Usd } from './shapes.ts'

export const Balance = Type.Object(
  {
    asset: StringEnum(['USDT'], {
      description: 'Asset the balance is held in.',
      examples: ['USDT'],
    }),
    balance_usd: Usd('Available to load onto cards or withdraw.'),
    pending_in_usd: Usd(
      "Deposits seen on a blockchain that aren't final yet. Not part of the balance.",
    ),
    pending_out_usd: Usd('Withdrawals in progress. Already deducted from the balance.'),
    cards_usd: Usd('Total on all cards, including amounts on hold.'),
    total_usd: Usd('Sum of `balance_usd` and `cards_usd`.'),
    owed_usd: Usd(
      "Amount the account owes, for example after a lost dispute the balance didn't cover. " +
        'Incoming money pays it first. 0 if nothing is owed.',
    ),
    updated_at: Timestamp('Time of the last change.'),
  },
  { description: 'The account balance. 1 USDT counts as 1 USD.' },
)
export type Balance = Static<typeof Balance>

const change_types = [
  'topup',
  'load',
  'unload',
  'withdrawal',
  'withdrawal_reversal',
  'refund',
  'dispute_credit',
  'dispute_reversal',
  'fee',
  'adjustment',
] as const

export const BalancePoint = Type.Object(
  {
    id: Id('bal', 'ID of the balance change.'),
    type: StringEnum(change_types, {
      description: 'What changed the balance.',
      examples: ['topup'],
    }),
    amount_usd: Usd('Amount of the change. Negative if money left the balance.'),
    balance_usd: Usd('Balance after the change.'),
    reference: Type.Object(
      {
        type: Type.String({
          description: 'Type of the object that caused the change.',
          examples: ['topup'],
        }),
        id: Id('tup', 'ID of the object that caused the change.'),
      },
      { description: 'The object that caused the change.' },
    ),
    description: Type.String({
      description: 'Description of the change.',
      examples: ['Top-up of 25.50 USDT on tron.'],
    }),
    created_at: Timestamp('Time of the change.'),
  },
  { description: 'A change of the account balance.' },
)
export type BalancePoint = Static<typeof BalancePoint>

export const get_balance = operation({
  name: 'get_balance',
  ...routes.get_balance,
  status: 200,
  section: 'Balance',
  summary: 'Retrieve the balance.',
  description:
    'Returns the USDT balance: available, incoming, outgoing and on cards. Check it before you ' +
    'load a card or withdraw.',
  access: scoped('balance:read'),
  input: Input({}),
  output: Balance,
})

export const get_balance_history = operation({
  name: 'get_balance_history',
  ...routes.get_balance_history,
  status: 200,
  section: 'Balance',
  summary: 'List balance changes.',
  description:
    'Lists every change of the balance with the balance after it. The list is complete: the ' +
    "amounts add up to the current balance. Purchases aren't included, because they're paid from " +
    'cards; see list_transactions.',
  access: scoped('balance:read'),
  input: Input({
    ...pageQuery,
    type: Type.Optional(EnumList(change_types, 'Filter by type of change.')),
    reference_id: StringList('Filter by the object that caused the change.', {
      example: 'tup_01kc3z8e5xf8m9r4t2v6w7y8za',
    }),
  }),
  output: Page(BalancePoint),
  problems: ['invalid_cursor'],
})
