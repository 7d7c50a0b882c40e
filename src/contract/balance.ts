import Type, { type Static } from 'typebox'
import { Several } from './filters.ts'
import { operation, scoped } from './operation.ts'
import { routes } from './routes.ts'
import { Id, Input, ListOf, OneOf, Page, pageQuery, Timestamp, Usd } from './shapes.ts'

export const Balance = Type.Object(
  {
    asset: OneOf(['USDT'], { description: 'What the balance is held in.', examples: ['USDT'] }),
    balance_usd: Usd('Available: can be loaded onto cards or withdrawn.'),
    pending_in_usd: Usd('Seen on a chain and not final yet; not part of the balance.'),
    pending_out_usd: Usd('Withdrawals under way; already taken off the balance.'),
    cards_usd: Usd('On all cards together, what is held for purchases included.'),
    total_usd: Usd('balance_usd and cards_usd together.'),
    owed_usd: Usd(
      'Owed by the account, such as a lost dispute that the balance did not cover. Money that ' +
        'comes in pays it first. 0 if nothing is owed.',
    ),
    updated_at: Timestamp('When the balance last changed.'),
  },
  { description: 'The treasury of the account. One USDT counts as one dollar.' },
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
    id: Id('bal', 'The point.'),
    type: OneOf(change_types, { description: 'What changed the balance.', examples: ['topup'] }),
    amount_usd: Usd('The change: positive came in, negative went out.'),
    balance_usd: Usd('The balance right after it.'),
    reference: Type.Object(
      {
        type: Type.String({ description: 'The kind of object behind it.', examples: ['topup'] }),
        id: Id('tup', 'The object behind it.'),
      },
      { description: 'What caused the change.' },
    ),
    description: Type.String({
      description: 'The change in words.',
      examples: ['Top-up of 25.50 USDT on tron.'],
    }),
    created_at: Timestamp('When it happened.'),
  },
  { description: 'One change of the balance.' },
)
export type BalancePoint = Static<typeof BalancePoint>

export const get_balance = operation({
  name: 'get_balance',
  ...routes.get_balance,
  status: 200,
  section: 'Balance',
  summary: 'Read the balance.',
  description:
    'The USDT balance now: what is available, what is arriving, what is leaving and what is on ' +
    'cards. Ask it before loading a card or withdrawing.',
  access: scoped('balance:read'),
  input: Input({}),
  output: Balance,
})

export const get_balance_history = operation({
  name: 'get_balance_history',
  ...routes.get_balance_history,
  status: 200,
  section: 'Balance',
  summary: 'Read the history of the balance.',
  description:
    'Every change of the balance as a time series, with the balance after each. Nothing is left ' +
    'out: adding the amounts up from the first point gives the balance. Purchases are not here, ' +
    'because they are paid from cards; see list_transactions.',
  access: scoped('balance:read'),
  input: Input({
    ...pageQuery,
    type: Type.Optional(ListOf(change_types, 'Only changes of these types.')),
    reference_id: Several('Only changes caused by this object.', {
      example: 'tup_01kc3z8e5xf8m9r4t2v6w7y8za',
    }),
  }),
  output: Page(BalancePoint),
  problems: ['invalid_cursor'],
})
