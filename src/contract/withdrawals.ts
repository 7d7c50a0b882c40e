import Type, { type Static } from 'typebox'
import { AgentList, StringList } from './filters.ts'
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
    id: Id('wd', 'ID of the withdrawal.'),
    asset: Type.String({ description: 'Asset sent.', examples: ['USDT'] }),
    chain: Type.String({ description: 'Blockchain it is sent on.', examples: ['tron'] }),
    address: Type.String({ description: 'Destination address.', examples: [address_example] }),
    amount_usd: Usd('Amount deducted from the balance, including the fee.'),
    fee_usd: Type.Number({ description: 'Fee, included in the amount.', examples: [1] }),
    net_usd: Type.Number({
      description: 'Amount that arrives: `amount_usd` minus `fee_usd`.',
      examples: [24.5],
    }),
    status: StringEnum(withdrawal_statuses, {
      description:
        'pending: not sent yet. broadcasted: sent to the blockchain. completed: final. failed: ' +
        'the full amount was returned to the balance.',
      examples: ['pending'],
    }),
    status_reason: Nullable(
      Type.String({
        description:
          'Reason for the status, if there is one. review: waiting for approval by an operator. ' +
          'account_suspended: on hold until the suspension ends or an operator refuses it. ' +
          "transfer_mismatch: the transfer on the blockchain isn't the requested one, so an " +
          'operator checks it. nonce_taken: another transaction took its place on the ' +
          'blockchain, and an operator decides if it is sent again.',
        examples: ['review'],
      }),
    ),
    txid: Nullable(
      Type.String({
        description: 'Transfer on the blockchain. Null until it is sent.',
        examples: [txid_example],
      }),
    ),
    confirmations: Type.Integer({
      description: 'Confirmations of the transfer.',
      examples: [0],
    }),
    broadcasted_at: Nullable(Timestamp('Time it was sent.')),
    completed_at: Nullable(Timestamp('Time it became final.')),
    metadata: Metadata,
    ...versioned,
  },
  { description: 'A transfer of USDT to an external wallet.' },
)
export type Withdrawal = Static<typeof Withdrawal>

export const withdraw = operation({
  name: 'withdraw',
  ...routes.withdraw,
  status: 201,
  section: 'Withdrawals',
  summary: 'Withdraw USDT to an external wallet.',
  description:
    'Deducts the amount from the balance immediately and sends it, minus the fee, to an address ' +
    "on the given chain. Can't be undone: check the address, and send an Idempotency-Key so a " +
    'retry never sends twice. With two-factor authentication on, a session must send ' +
    "`totp_code`. Emits withdrawal.broadcasted when it's sent. See get_limits for the fee, " +
    'minimum and maximum.',
  access: scoped('withdrawal:create'),
  input: Input({
    amount_usd: UsdInput('Amount to deduct from the balance, including the fee.', { decimals: 6 }),
    address: Type.String({
      description: 'Destination address, in the format of its chain.',
      maxLength: 200,
      examples: [address_example],
    }),
    asset: Type.Optional(
      Type.String({ description: 'Asset to send.', default: 'USDT', examples: ['USDT'] }),
    ),
    chain: Type.Optional(
      Type.String({
        description: 'Blockchain to send it on.',
        default: 'tron',
        examples: ['tron'],
      }),
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
    'approval_required',
  ],
  destructive: true,
})

export const list_withdrawals = operation({
  name: 'list_withdrawals',
  ...routes.list_withdrawals,
  status: 200,
  section: 'Withdrawals',
  summary: 'List withdrawals.',
  description: "Lists the account's withdrawals. Filter by status, address, transfer or date.",
  access: scoped('withdrawal:read'),
  input: Input({
    ...pageQuery,
    status: Type.Optional(EnumList(withdrawal_statuses, 'Filter by status.')),
    address: StringList('Filter by destination address.', { example: address_example }),
    txid: StringList('Filter by transfer.', { example: txid_example }),
    agent: AgentList,
  }),
  output: Page(Withdrawal),
  problems: ['invalid_cursor'],
})

export const get_withdrawal = operation({
  name: 'get_withdrawal',
  ...routes.get_withdrawal,
  status: 200,
  section: 'Withdrawals',
  summary: 'Retrieve a withdrawal.',
  description: 'Returns a withdrawal with its status, confirmations and blockchain transfer.',
  access: scoped('withdrawal:read'),
  input: Input({ id: Id('wd', 'ID of the withdrawal.') }),
  output: Withdrawal,
})
