import Type, { type Static } from 'typebox'
import { SeveralIds } from './filters.ts'
import { type Access, operation, scoped } from './operation.ts'
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
    id: Id('evd', 'The piece of evidence.'),
    dispute_id: Id('dsp', 'The dispute it belongs to.'),
    kind: OneOf(evidence_kinds, { description: 'What it is.', examples: ['receipt'] }),
    file_name: Nullable(
      Type.String({ description: 'The name of the file.', examples: ['receipt.pdf'] }),
    ),
    content_type: Nullable(
      Type.String({
        description: 'The type of the file, judged by its content.',
        examples: ['application/pdf'],
      }),
    ),
    size_bytes: Nullable(
      Type.Integer({ description: 'The size of the file.', examples: [48_213] }),
    ),
    sha256: Nullable(
      Type.String({
        description: 'The SHA-256 of the file, in hex.',
        examples: ['9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08'],
      }),
    ),
    note: Nullable(
      Type.String({
        description: 'What was written with it.',
        examples: ['The shop confirmed the return by mail.'],
      }),
    ),
    created_at: Timestamp('When it was added.'),
  },
  { description: 'A file or a note that supports a dispute.' },
)
export type Evidence = Static<typeof Evidence>

export const Dispute = Type.Object(
  {
    id: Id('dsp', 'The dispute.'),
    transaction_id: Id('txn', 'The capture that is contested.'),
    card_id: Id('card', 'The card it was paid with.'),
    amount_usd: Usd('What is contested.'),
    reason: OneOf(reasons, { description: 'Why it is contested.', examples: ['not_received'] }),
    explanation: Type.String({
      description: 'What happened, in your words.',
      examples: ['Ordered on 2 November, never delivered, the shop does not answer.'],
    }),
    status: OneOf(dispute_statuses, {
      description: 'open: filed. answered: the other side has answered. closed: decided.',
      examples: ['open'],
    }),
    outcome: Nullable(
      OneOf(outcomes, { description: 'How it ended; null until closed.', examples: ['won'] }),
    ),
    closed_by: Nullable(
      OneOf(['operator', 'refund'], {
        description:
          'operator: decided. refund: the merchant refunded all that was contested. Null until ' +
          'closed.',
        examples: ['operator'],
      }),
    ),
    response: Nullable(
      Type.Object(
        {
          text: Type.String({
            description: 'What the other side says.',
            examples: ['The parcel was signed for on 6 November.'],
          }),
          received_at: Timestamp('When the answer came.'),
        },
        { description: "The other side's answer." },
      ),
    ),
    evidence: Type.Array(Evidence, { description: 'What was added, oldest first.' }),
    evidence_due_at: Timestamp('Until when evidence is taken into account.'),
    provisional_credit_usd: Usd(
      'Credited to the balance on filing. It falls by what a refund has paid too, and is taken ' +
        'back if the dispute is lost.',
    ),
    metadata: Metadata,
    ...versioned,
    resolved_at: Nullable(Timestamp('When it was decided.')),
  },
  { description: 'A chargeback: a purchase that is contested.' },
)
export type Dispute = Static<typeof Dispute>

/** Whoever may see purchases may see what became of contesting them. */
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
  summary: 'Contest a purchase.',
  description:
    'Opens a chargeback for a captured purchase, up to 120 days after it. The amount is credited ' +
    'to the balance for the time being and taken back if the dispute is lost. One open dispute ' +
    'per purchase. A dispute cannot be withdrawn; ask the merchant for a refund first. Then add ' +
    'evidence with add_dispute_evidence within 30 days.',
  access: scoped('dispute:write'),
  input: Input({
    transaction_id: Id('txn', 'The capture to contest.'),
    reason: OneOf(reasons, { description: 'Why.', examples: ['not_received'] }),
    amount_usd: Type.Optional(
      UsdInput('What is contested. Absent: all of the purchase that was not refunded.'),
    ),
    explanation: Type.String({
      description: 'What happened, in your words.',
      minLength: 1,
      maxLength: 5000,
      examples: ['Ordered on 2 November, never delivered, the shop does not answer.'],
    }),
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
  description: 'The disputes of the account, by state, outcome, purchase, card and date.',
  access: disputeReaders,
  input: Input({
    ...pageQuery,
    status: Type.Optional(ListOf(dispute_statuses, 'Only disputes in these states.')),
    outcome: Type.Optional(ListOf(outcomes, 'Only those that ended so.')),
    transaction_id: SeveralIds('txn', 'Only about this transaction.'),
    card_id: SeveralIds('card', 'Only about purchases with this card.'),
  }),
  output: Page(Dispute),
  problems: ['invalid_cursor'],
})

export const get_dispute = operation({
  name: 'get_dispute',
  ...routes.get_dispute,
  status: 200,
  section: 'Disputes',
  summary: 'Read a dispute.',
  description: 'One dispute with its state, the answer of the other side and all evidence.',
  access: disputeReaders,
  input: Input({ id: Id('dsp', 'The dispute.') }),
  output: Dispute,
})

export const add_dispute_evidence = operation({
  name: 'add_dispute_evidence',
  ...routes.add_dispute_evidence,
  status: 200,
  section: 'Disputes',
  summary: 'Add evidence to a dispute.',
  description:
    'Adds one receipt, screenshot or note to a dispute that is not closed. Files may be pdf, ' +
    'png, jpeg, webp or plain text, judged by their content, of up to 100 MB; at most 20 pieces ' +
    'a dispute. Over HTTP a file is streamed, as multipart/form-data or as the raw body; as ' +
    'JSON, and as a tool, send a note, or a small file in `content_base64`. Evidence cannot be ' +
    'removed.',
  access: scoped('dispute:write'),
  input: Input({
    id: Id('dsp', 'The dispute.'),
    kind: OneOf(evidence_kinds, { description: 'What it is.', examples: ['note'] }),
    note: Type.Optional(
      Type.String({
        description: 'Words that go with the file, or that are the evidence.',
        maxLength: 10_000,
        examples: ['The shop confirmed the return by mail.'],
      }),
    ),
    file_name: Type.Optional(
      Type.String({
        description: 'The name of the file.',
        maxLength: 255,
        examples: ['receipt.pdf'],
      }),
    ),
    content_base64: Type.Optional(
      Type.String({
        description: 'The file itself in base64; the whole request may be 25 MB.',
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
