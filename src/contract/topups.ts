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
  Usd,
  UsdInput,
  versioned,
} from './shapes.ts'

const topup_statuses = ['awaiting', 'confirming', 'completed', 'cancelled', 'error'] as const

const txid_example = '7c2d4206c03a883dd9066d920c0e4fd1f1a2a3c06b1f3f9c7d1ac2bd5c5e0c11'

export const Topup = Type.Object(
  {
    id: Id('tup', 'ID of the top-up.'),
    asset: Type.String({ description: 'Asset to send.', examples: ['USDT'] }),
    chain: Type.String({
      description:
        'Blockchain to send it on. Money sent on another chain is not credited to this top-up.',
      examples: ['tron'],
    }),
    deposit_address: Type.String({
      description: 'Address to send to. Each top-up has its own address, which is never reused.',
      examples: ['TQn9Y2khEsLJW1ChVWFMSMeRDow5KcbLSE'],
    }),
    amount_usd: Usd(
      'Requested amount. You can send more or less: the amount received is credited.',
    ),
    status: StringEnum(topup_statuses, {
      description:
        'awaiting: no transfer seen. confirming: a transfer was seen but is not final. ' +
        'completed: credited. cancelled: canceled or expired. error: not credited; see ' +
        '`status_reason`.',
      examples: ['awaiting'],
    }),
    status_reason: Nullable(
      StringEnum(
        [
          'expired',
          'cancelled_by_user',
          'kill_switch',
          'refunded',
          'below_minimum',
          'screening',
          'reorg',
        ],
        { description: 'Reason for the status, if there is one.', examples: ['expired'] },
      ),
    ),
    received_usd: Usd('Amount received on the blockchain, final or not.'),
    credited_usd: Usd('Amount credited to the balance.'),
    payment_state: StringEnum(['none', 'partial', 'exact', 'over', 'late'], {
      description: 'Amount received compared with the amount requested. late takes precedence.',
      examples: ['none'],
    }),
    txid: Nullable(
      Type.String({
        description: 'Last transfer seen on the blockchain. Null until there is one.',
        examples: [txid_example],
      }),
    ),
    txids: Type.Array(Type.String({ examples: [txid_example] }), {
      description: 'All transfers to this address.',
    }),
    confirmations: Type.Integer({
      description: 'Confirmations of the last transfer.',
      examples: [0],
    }),
    required_confirmations: Type.Integer({
      description: 'Confirmations required on this chain.',
      examples: [19],
    }),
    qr_data_uri: Type.Optional(
      Nullable(
        Type.String({
          description: 'QR code as a PNG data URI, while the top-up is awaiting.',
          examples: ['data:image/png;base64,iVBORw0KGgo='],
        }),
      ),
    ),
    payment_uri: Type.String({
      description: 'Payment URI that wallets can open.',
      examples: ['tron:TQn9Y2khEsLJW1ChVWFMSMeRDow5KcbLSE?amount=25.5'],
    }),
    expires_at: Timestamp('Time the top-up expires. Later transfers are still credited.'),
    completed_at: Nullable(Timestamp('Time it was credited.')),
    metadata: Metadata,
    ...versioned,
  },
  {
    description:
      'An expected deposit. Clients must also accept the status `pending`, which means awaiting.',
  },
)
export type Topup = Static<typeof Topup>

export const create_topup = operation({
  name: 'create_topup',
  ...routes.create_topup,
  status: 201,
  section: 'Top-ups',
  summary: 'Create a top-up.',
  description:
    'Creates a deposit address and a QR code for one top-up. Send the asset to that address on ' +
    "the given chain; what arrives is credited to the balance once it's final (about a minute on " +
    'tron). The top-up expires after 60 minutes, but later transfers are still credited. Moves ' +
    'no money by itself. See get_limits for the minimum and maximum.',
  access: scoped('topup:create'),
  input: Input({
    amount_usd: UsdInput('Amount you plan to send.'),
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
    metadata: Type.Optional(MetadataInput),
  }),
  output: Topup,
  emits: ['topup.created'],
  problems: [
    'invalid_amount',
    'amount_out_of_range',
    'unsupported_asset',
    'unsupported_chain',
    'kill_switch_active',
  ],
})

export const list_topups = operation({
  name: 'list_topups',
  ...routes.list_topups,
  status: 200,
  section: 'Top-ups',
  summary: 'List top-ups.',
  description: "Lists the account's top-ups. Filter by status, asset, chain, transfer or date.",
  access: scoped('topup:read'),
  input: Input({
    ...pageQuery,
    status: Type.Optional(
      EnumList([...topup_statuses, 'pending'], 'Filter by status. pending means awaiting.'),
    ),
    asset: StringList('Filter by asset.', { example: 'USDT' }),
    chain: StringList('Filter by chain.', { example: 'tron' }),
    txid: StringList('Filter by transfer.', { example: txid_example }),
    agent: AgentList,
  }),
  output: Page(Topup),
  problems: ['invalid_cursor'],
})

export const get_topup = operation({
  name: 'get_topup',
  ...routes.get_topup,
  status: 200,
  section: 'Top-ups',
  summary: 'Retrieve a top-up.',
  description:
    'Returns a top-up with its status, confirmations and transfers. To wait for a deposit, poll ' +
    'every few seconds or subscribe to topup.confirmed.',
  access: scoped('topup:read'),
  input: Input({ id: Id('tup', 'ID of the top-up.') }),
  output: Topup,
})

export const cancel_topup = operation({
  name: 'cancel_topup',
  ...routes.cancel_topup,
  status: 200,
  section: 'Top-ups',
  summary: 'Cancel a top-up.',
  description:
    'Cancels a top-up that has received no transfer; otherwise fails with ' +
    "`topup_not_cancellable`. Can't be undone, but you can create a new one. A transfer already " +
    'on its way is still credited.',
  access: scoped('topup:create'),
  input: Input({ id: Id('tup', 'The top-up to cancel.') }),
  output: Topup,
  problems: ['topup_not_cancellable'],
  destructive: true,
})
