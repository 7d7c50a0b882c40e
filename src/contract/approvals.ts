import Type, { type Static } from 'typebox'
import { AgentList } from './filters.ts'
import { type AccountAccess, operation, sessionOnly } from './operation.ts'
import { routes } from './routes.ts'
import {
  EnumList,
  Id,
  Input,
  Nullable,
  Page,
  Password,
  pageQuery,
  StringEnum,
  Timestamp,
  TotpCode,
  Usd,
} from './shapes.ts'

const approval_statuses = ['pending', 'approved', 'declined', 'expired', 'used'] as const
const approved_operations = ['load_card', 'issue_card', 'withdraw'] as const

export const Approval = Type.Object(
  {
    id: Id('apr', 'ID of the approval.'),
    status: StringEnum(approval_statuses, {
      description:
        'pending: waiting for the owner. approved: the app can make the call once, within an ' +
        'hour. used: it did. expired: not decided within 24 hours, or not used in time.',
      examples: ['pending'],
    }),
    operation: StringEnum(approved_operations, {
      description: 'The operation that the app wants to call.',
      examples: ['load_card'],
    }),
    summary: Type.String({
      description: 'What the app wants, as a sentence.',
      examples: [
        "Shopper wants to load $120.00 onto Groceries ·· 8818; the app's daily budget is $50.00, " +
          'and $12.00 is left.',
      ],
    }),
    amount_usd: Usd('Amount that would leave the balance.'),
    agent: Type.Object(
      {
        client_id: Type.String({
          description: 'OAuth client ID of the app.',
          examples: ['q1vKmTzvQ0eGZbN1X5mYj'],
        }),
        name: Nullable(Type.String({ description: 'Name of the app.', examples: ['Shopper'] })),
      },
      { description: 'The app that asks.' },
    ),
    card_id: Nullable(Id('card', 'The card to load. Null for other operations.')),
    created_at: Timestamp('Time of the refused call.'),
    expires_at: Timestamp('24 hours after creation. It can be decided until then.'),
    decided_at: Nullable(Timestamp('Time of the decision.')),
  },
  { description: 'A call beyond the budget of an app, for the owner to approve or decline.' },
)
export type Approval = Static<typeof Approval>

/** Every token, whatever its scopes: it sees the approvals of its own grant. */
const any_token: AccountAccess = { session: true, api_key: true, oauth: { all: [] } }

export const list_approvals = operation({
  name: 'list_approvals',
  ...routes.list_approvals,
  status: 200,
  section: 'Approvals',
  summary: 'List approvals.',
  description:
    'Lists calls of apps that need approval by the account owner, because they exceed the ' +
    "app's budget. A token sees its own. After `approval_required`, poll this until the status " +
    'is approved, then repeat the same call.',
  access: any_token,
  input: Input({
    ...pageQuery,
    status: Type.Optional(EnumList(approval_statuses, 'Filter by status.')),
    agent: AgentList,
  }),
  output: Page(Approval),
  problems: ['invalid_cursor'],
})

export const decide_approval = operation({
  name: 'decide_approval',
  ...routes.decide_approval,
  status: 200,
  section: 'Approvals',
  summary: 'Approve or decline a call.',
  description:
    'Decides a pending approval. If approved, the app can make exactly that call once, within an ' +
    'hour, beyond its budget. A decision is final. Only the account owner can decide, signed in ' +
    'with a session. Large amounts also need the password and, with two-factor ' +
    'authentication, a code.',
  access: sessionOnly,
  input: Input({
    id: Id('apr', 'ID of the approval.'),
    decision: StringEnum(['approve', 'decline'], {
      description: 'The decision.',
      examples: ['approve'],
    }),
    password: Type.Optional(Password),
    totp_code: Type.Optional(TotpCode),
  }),
  output: Approval,
  emits: ['approval.decided'],
  problems: [
    'approval_decided',
    'invalid_credentials',
    'totp_required',
    'totp_invalid',
    'too_many_attempts',
  ],
})
