import Type, { type Static } from 'typebox'
import { IdList } from './filters.ts'
import { type Access, operation, scoped } from './operation.ts'
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
  Text,
  Timestamp,
  Usd,
  UsdInput,
  versioned,
} from './shapes.ts'

const reasons = [
  'fraudulent',
  'duplicate',
  'not_received',
  'not_as_described',
  'cancelled',
  'no_valid_authorization',
  'incorrect_amount',
  'refund_not_processed',
  'other',
] as const

const dispute_statuses = ['open', 'answered', 'closed'] as const
const outcomes = ['won', 'lost'] as const
const evidence_kinds = ['receipt', 'screenshot', 'note', 'other'] as const

export const Evidence = Type.Object(
  {
    id: Id('evd', 'ID of the evidence.'),
    dispute_id: Id('dsp', 'The dispute it belongs to.'),
    kind: StringEnum(evidence_kinds, { description: 'Type of evidence.', examples: ['receipt'] }),
    file_name: Nullable(Type.String({ description: 'File name.', examples: ['receipt.pdf'] })),
    content_type: Nullable(
      Type.String({
        description: 'File type, detected from the content.',
        examples: ['application/pdf'],
      }),
    ),
    size_bytes: Nullable(Type.Integer({ description: 'File size.', examples: [48_213] })),
    sha256: Nullable(
      Type.String({
        description: 'SHA-256 of the file, in hex.',
        examples: ['9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08'],
      }),
    ),
    note: Nullable(
      Type.String({
        description: 'Note added with the evidence.',
        examples: ['The store confirmed the return by email.'],
      }),
    ),
    created_at: Timestamp('Time it was added.'),
  },
  { description: 'A file or note that supports a dispute.' },
)
export type Evidence = Static<typeof Evidence>

export const Dispute = Type.Object(
  {
    id: Id('dsp', 'ID of the dispute.'),
    transaction_id: Id('txn', 'The disputed capture.'),
    card_id: Id('card', 'The card used for the purchase.'),
    amount_usd: Usd('Disputed amount.'),
    reason: StringEnum(reasons, {
      description: 'Reason for the dispute.',
      examples: ['not_received'],
    }),
    explanation: Type.String({
      description: 'What happened, in your own words.',
      examples: ['Ordered on November 2, never delivered, and the store does not reply.'],
    }),
    status: StringEnum(dispute_statuses, {
      description: 'open: filed. answered: the merchant responded. closed: resolved.',
      examples: ['open'],
    }),
    outcome: Nullable(
      StringEnum(outcomes, { description: 'Null until the dispute is closed.', examples: ['won'] }),
    ),
    closed_by: Nullable(
      StringEnum(['operator', 'refund'], {
        description:
          'operator: resolved by an operator. refund: the merchant refunded the full disputed ' +
          'amount. Null until the dispute is closed.',
        examples: ['operator'],
      }),
    ),
    response: Nullable(
      Type.Object(
        {
          text: Type.String({
            description: 'The response of the merchant.',
            examples: ['The package was signed for on November 6.'],
          }),
          received_at: Timestamp('Time of the response.'),
        },
        { description: 'Response of the merchant.' },
      ),
    ),
    evidence: Type.Array(Evidence, { description: 'Evidence, oldest first.' }),
    evidence_due_at: Timestamp('Deadline for evidence.'),
    provisional_credit_usd: Usd(
      'Amount credited to the balance when the dispute was filed. Reduced by amounts that a ' +
        'refund also paid, and reversed if the dispute is lost.',
    ),
    metadata: Metadata,
    ...versioned,
    resolved_at: Nullable(Timestamp('Time it was resolved.')),
  },
  { description: 'A disputed purchase (chargeback).' },
)
export type Dispute = Static<typeof Dispute>

/** A token that can read transactions can also read their disputes. */
const disputeReaders: Access = {
  session: true,
  api_key: true,
  oauth: { any: ['dispute:write', 'transaction:read'] },
}

export const file_dispute = operation({
  name: 'file_dispute',
  ...routes.file_dispute,
  status: 201,
  section: 'Disputes',
  summary: 'Dispute a purchase.',
  description:
    'Opens a chargeback for a captured purchase, up to 120 days after the capture. The amount is ' +
    'credited to the balance right away, and taken back if the dispute is lost. One open dispute ' +
    "per purchase. Ask the merchant for a refund first: a dispute can't be withdrawn. You have " +
    '30 days to add evidence with add_dispute_evidence.',
  access: scoped('dispute:write'),
  input: Input({
    transaction_id: Id('txn', 'The capture to dispute.'),
    reason: StringEnum(reasons, {
      description: 'Reason for the dispute.',
      examples: ['not_received'],
    }),
    amount_usd: Type.Optional(
      UsdInput('Amount to dispute. Default: the full amount not yet refunded.'),
    ),
    explanation: Text(
      'What happened, in your own words.',
      5_000,
      'Ordered on November 2, never delivered, and the store does not reply.',
    ),
    metadata: Type.Optional(MetadataInput),
  }),
  output: Dispute,
  emits: ['dispute.opened'],
  problems: [
    'not_found',
    'invalid_amount',
    'amount_out_of_range',
    'transaction_not_disputable',
    'dispute_exists',
  ],
})

export const list_disputes = operation({
  name: 'list_disputes',
  ...routes.list_disputes,
  status: 200,
  section: 'Disputes',
  summary: 'List disputes.',
  description:
    "Lists the account's disputes. Filter by status, outcome, transaction, card or date.",
  access: disputeReaders,
  input: Input({
    ...pageQuery,
    status: Type.Optional(EnumList(dispute_statuses, 'Filter by status.')),
    outcome: Type.Optional(EnumList(outcomes, 'Filter by outcome.')),
    transaction_id: IdList('txn', 'Filter by transaction.'),
    card_id: IdList('card', 'Filter by card.'),
  }),
  output: Page(Dispute),
  problems: ['invalid_cursor'],
})

export const get_dispute = operation({
  name: 'get_dispute',
  ...routes.get_dispute,
  status: 200,
  section: 'Disputes',
  summary: 'Retrieve a dispute.',
  description: 'Returns a dispute with its status, evidence and the response of the merchant.',
  access: disputeReaders,
  input: Input({ id: Id('dsp', 'ID of the dispute.') }),
  output: Dispute,
})

export const add_dispute_evidence = operation({
  name: 'add_dispute_evidence',
  ...routes.add_dispute_evidence,
  status: 200,
  section: 'Disputes',
  summary: 'Add evidence to a dispute.',
  description:
    'Adds a receipt, screenshot or note to a dispute that is not closed. Files can be PDF, PNG, ' +
    'JPEG, WebP or plain text (detected from the content) up to 100 MB, with up to 20 pieces of ' +
    'evidence per dispute. Over HTTP, send a file as multipart/form-data or as the raw request ' +
    'body. In JSON and MCP calls, send a note, or a small file in `content_base64`. Evidence ' +
    "can't be removed.",
  access: scoped('dispute:write'),
  input: Input({
    id: Id('dsp', 'ID of the dispute.'),
    kind: StringEnum(evidence_kinds, { description: 'Type of evidence.', examples: ['note'] }),
    note: Type.Optional(
      Type.String({
        description: 'The evidence itself, or a comment on the file.',
        maxLength: 10_000,
        examples: ['The store confirmed the return by email.'],
      }),
    ),
    file_name: Type.Optional(
      Type.String({
        description: 'File name.',
        maxLength: 255,
        examples: ['receipt.pdf'],
      }),
    ),
    content_base64: Type.Optional(
      Type.String({
        description: 'The file in base64. The whole request can be up to 25 MB.',
        contentEncoding: 'base64',
        examples: ['UGFpZCAyNS41MCBVU0QK'],
      }),
    ),
  }),
  output: Dispute,
  problems: [
    'dispute_closed',
    'evidence_limit_reached',
    'evidence_too_large',
    'unsupported_media_type',
  ],
})
