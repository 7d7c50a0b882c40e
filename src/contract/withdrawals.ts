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
  TotpCode,
  Usd,
  UsdInput,
  versioned,
} from './shapes.ts'

const withdrawal_statuses = ['pending', 'broadcasted', 'completed', 'failed'] as const

const address_example = 'TQn9Y2khEsLJW1ChVWFMSMeRDow5KcbLSE'
const txid_example = '1f0d0f6c9f8c4a3bb1d6f0a7ac2b4b8ac1f4b9db41c0ab0c9d8ba3b7d53e6a20'

export const Withdrawal = Type.Object(
  {
    id: Id('wd', 'The withdrawal.'),
    asset: Type.String({ description: 'The asset that is sent.', examples: ['USDT'] }),
    chain: Type.String({ description: 'The chain it is sent on.', examples: ['tron'] }),
    address: Type.String({ description: 'The wallet it goes to.', examples: [address_example] }),
    amount_usd: Usd('What left the balance, fee included.'),
    fee_usd: Type.Number({ description: 'The fee, inside the amount.', examples: [1] }),
    net_usd: Type.Number({
      description: 'What arrives: the amount less the fee.',
      examples: [24.5],
    }),
    status: OneOf(withdrawal_statuses, {
      description:
        'pending: not sent yet. broadcasted: sent to the chain. completed: final. failed: the ' +
        'whole amount is back in the balance.',
      examples: ['pending'],
    }),
    status_reason: Nullable(
      Type.String({
        description:
          'Why it is in this state, where that needs saying. review: a person approves it first. ' +
          'account_suspended: it waits until the suspension is lifted or an operator refuses it.',
        examples: ['review'],
      }),
    ),
    txid: Nullable(
      Type.String({
        description: 'The transfer on the chain; null until it is sent.',
        examples: [txid_example],
      }),
    ),
    confirmations: Type.Integer({
      description: 'How many blocks deep the transfer is.',
      examples: [0],
    }),
    broadcasted_at: Nullable(Timestamp('When it was sent.')),
    completed_at: Nullable(Timestamp('When it became final.')),
    metadata: Metadata,
    ...versioned,
  },
  { description: 'USDT on its way to an external wallet.' },
)
export type Withdrawal = Static<typeof Withdrawal>

export const withdraw = operation({
  name: 'withdraw',
  ...routes.withdraw,
  status: 201,
  section: 'Withdrawals',
  summary: 'Send USDT to an external wallet.',
  description:
    'Takes the amount off the balance at once and sends it, less the fee, to the address on the ' +
    'chain. A transfer on a chain cannot be called back: check the address, and pass an ' +
    'Idempotency-Key so that a repeat never sends twice. Where two-factor is on, a session must ' +
    'send `totp_code`. withdrawal.broadcasted follows when it is sent. get_limits tells the fee ' +
    'and the bounds.',
  access: scoped('withdrawal:create'),
  input: Input({
    amount_usd: UsdInput('What leaves the balance, fee included.', { decimals: 6 }),
    address: Type.String({
      description: 'The wallet to send to, in the notation of its chain.',
      maxLength: 200,
      examples: [address_example],
    }),
    asset: Type.Optional(
      Type.String({ description: 'The asset.', default: 'USDT', examples: ['USDT'] }),
    ),
    chain: Type.Optional(
      Type.String({ description: 'The chain.', default: 'tron', examples: ['tron'] }),
    ),
    totp_code: Type.Optional(TotpCode),
    metadata: Type.Optional(MetadataInput),
  }),
  output: Withdrawal,
  problems: [
    'invalid_amount',
    'amount_out_of_range',
    'insufficient_balance',
    'unsupported_asset',
    'unsupported_chain',
    'invalid_address',
    'address_blocked',
    'totp_required',
    'totp_invalid',
    'too_many_attempts',
    'kill_switch_active',
  ],
  destructive: true,
})

export const list_withdrawals = operation({
  name: 'list_withdrawals',
  ...routes.list_withdrawals,
  status: 200,
  section: 'Withdrawals',
  summary: 'List withdrawals.',
  description: 'The withdrawals of the account, by state, address, transfer and date.',
  access: scoped('withdrawal:read'),
  input: Input({
    ...pageQuery,
    status: Type.Optional(ListOf(withdrawal_statuses, 'Only withdrawals in these states.')),
    address: Several('Only to this address.', { example: address_example }),
    txid: Several('Only the one with this transfer.', { example: txid_example }),
  }),
  output: Page(Withdrawal),
  problems: ['invalid_cursor'],
})

export const get_withdrawal = operation({
  name: 'get_withdrawal',
  ...routes.get_withdrawal,
  status: 200,
  section: 'Withdrawals',
  summary: 'Read a withdrawal.',
  description: 'One withdrawal with its state, confirmations and transfer on the chain.',
  access: scoped('withdrawal:read'),
  input: Input({ id: Id('wd', 'The withdrawal.') }),
  output: Withdrawal,
})
