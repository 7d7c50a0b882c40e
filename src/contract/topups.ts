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
  Usd,
  UsdInput,
  versioned,
} from './shapes.ts'

const topup_statuses = ['awaiting', 'confirming', 'completed', 'cancelled', 'error'] as const

const txid_example = '7c2d4206c03a883dd9066d920c0e4fd1f1a2a3c06b1f3f9c7d1ac2bd5c5e0c11'

export const Topup = Type.Object(
  {
    id: Id('tup', 'The top-up.'),
    asset: Type.String({ description: 'The asset to send.', examples: ['USDT'] }),
    chain: Type.String({
      description: 'The chain to send it on. Funds sent on another chain are lost to this top-up.',
      examples: ['tron'],
    }),
    deposit_address: Type.String({
      description: 'Where to send it. An address belongs to one top-up and is never used again.',
      examples: ['TQn9Y2khEsLJW1ChVWFMSMeRDow5KcbLSE'],
    }),
    amount_usd: Usd('What was asked for. Less or more may be sent; what arrives is credited.'),
    status: OneOf(topup_statuses, {
      description:
        'awaiting: nothing seen yet. confirming: a transfer was seen and is not final. ' +
        'completed: credited. cancelled: called off, or the window closed. error: not settled, ' +
        'the reason says why.',
      examples: ['awaiting'],
    }),
    status_reason: Nullable(
      OneOf(
        [
          'expired',
          'cancelled_by_user',
          'kill_switch',
          'refunded',
          'below_minimum',
          'screening',
          'reorg',
        ],
        { description: 'Why it is in this state, where that needs saying.', examples: ['expired'] },
      ),
    ),
    received_usd: Usd('What has arrived on the chain, final or not.'),
    credited_usd: Usd('What has been added to the balance.'),
    payment_state: OneOf(['none', 'partial', 'exact', 'over', 'late'], {
      description: 'How what arrived compares with what was asked for; late wins over the others.',
      examples: ['none'],
    }),
    txid: Nullable(
      Type.String({
        description: 'The last transfer seen on the chain; null until there is one.',
        examples: [txid_example],
      }),
    ),
    txids: Type.Array(Type.String({ examples: [txid_example] }), {
      description: 'Every transfer to this address.',
    }),
    confirmations: Type.Integer({
      description: 'How many blocks deep the last transfer is.',
      examples: [0],
    }),
    required_confirmations: Type.Integer({
      description: 'How many it takes on this chain.',
      examples: [19],
    }),
    qr_data_uri: Type.Optional(
      Nullable(
        Type.String({
          description: 'The payment as a QR image (PNG, as a data URI), while it is awaited.',
          examples: ['data:image/png;base64,iVBORw0KGgo='],
        }),
      ),
    ),
    payment_uri: Type.String({
      description: 'The payment as a URI that wallets open.',
      examples: ['tron:TQn9Y2khEsLJW1ChVWFMSMeRDow5KcbLSE?amount=25.5'],
    }),
    expires_at: Timestamp('When the window closes. What arrives later is still credited.'),
    completed_at: Nullable(Timestamp('When it was credited.')),
    metadata: Metadata,
    ...versioned,
  },
  {
    description:
      'A deposit that is expected. Tolerate the status `pending` too; it means awaiting.',
  },
)
export type Topup = Static<typeof Topup>

export const create_topup = operation({
  name: 'create_topup',
  ...routes.create_topup,
  status: 201,
  section: 'Top-ups',
  summary: 'Get an address to deposit to.',
  description:
    'Makes a deposit address and a QR image for one top-up. Send the asset on the named chain to ' +
    'that address; the balance is credited with what arrives once it is final (on tron after ' +
    'about a minute). The window is 60 minutes; later transfers are still credited. Moves no ' +
    'money by itself. get_limits tells the smallest and the largest amount.',
  access: scoped('topup:create'),
  input: Input({
    amount_usd: UsdInput('What you mean to send.'),
    asset: Type.Optional(
      Type.String({ description: 'The asset.', default: 'USDT', examples: ['USDT'] }),
    ),
    chain: Type.Optional(
      Type.String({ description: 'The chain.', default: 'tron', examples: ['tron'] }),
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
  description: 'The top-ups of the account, by state, asset, chain, transfer and date.',
  access: scoped('topup:read'),
  input: Input({
    ...pageQuery,
    status: Type.Optional(
      ListOf(
        [...topup_statuses, 'pending'],
        'Only top-ups in these states; pending means awaiting.',
      ),
    ),
    asset: Several('Only in this asset.', { example: 'USDT' }),
    chain: Several('Only on this chain.', { example: 'tron' }),
    txid: Several('Only the one that this transfer paid.', { example: txid_example }),
  }),
  output: Page(Topup),
  problems: ['invalid_cursor'],
})

export const get_topup = operation({
  name: 'get_topup',
  ...routes.get_topup,
  status: 200,
  section: 'Top-ups',
  summary: 'Read a top-up.',
  description:
    'One top-up with its state, confirmations and transfers. To wait for a deposit, ask every ' +
    'few seconds or subscribe to topup.confirmed.',
  access: scoped('topup:read'),
  input: Input({ id: Id('tup', 'The top-up.') }),
  output: Topup,
})

export const cancel_topup = operation({
  name: 'cancel_topup',
  ...routes.cancel_topup,
  status: 200,
  section: 'Top-ups',
  summary: 'Call off a top-up.',
  description:
    'Calls off a top-up that nothing has arrived for; in any other state it answers ' +
    '`topup_not_cancellable`. It cannot be opened again, but make a new one freely. A transfer ' +
    'that is already on its way is still credited.',
  access: scoped('topup:create'),
  input: Input({ id: Id('tup', 'The top-up to call off.') }),
  output: Topup,
  problems: ['topup_not_cancellable'],
  destructive: true,
})
