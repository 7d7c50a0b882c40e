import type { Random } from '#test/simulation/random.ts'
import type { Input, OperationName } from './call.ts'
import { type Holder, PASSWORD } from './holder.ts'
import { callOperation, type Session } from './session.ts'

type Plan = { input: Input; bearer?: string } | null
type Choose = (holder: Holder, random: Random) => Plan

const some = (input: Input = {}): Plan => ({ input })
const ofCard = ({ cards }: Holder, random: Random, input: Input = {}): Plan =>
  cards.length === 0 ? null : { input: { id: random.pick(cards).id, ...input } }
const ofMap = (ids: Iterable<string>, random: Random, input: Input = {}): Plan => {
  const all = [...ids]
  return all.length === 0 ? null : { input: { id: random.pick(all), ...input } }
}
const page = (random: Random): Input => ({
  limit: random.between(1, 100),
  order: random.pick(['asc', 'desc']),
})

const GROUPS = ['day', 'week', 'month', 'category', 'merchant', 'country', 'card'] as const
const DAY_MS = 86_400_000
const lastDays = (random: Random): Input => ({
  from: new Date(Date.now() - random.between(0, 399) * DAY_MS).toISOString().slice(0, 10),
  to: new Date().toISOString().slice(0, 10),
})
/** Exact clients decide the approvals of their apps; this one doesn't exist. */
const NO_APPROVAL = 'apr_01kc3z8e5xf8m9r4t2v6w7y8za'

/** Every operation without an effect on balances, cards or card messages. */
const choices: Partial<Record<OperationName, Choose>> = {
  get_account: () => some(),
  get_limits: () => some(),
  get_system_health: () => some(),
  get_balance: () => some(),
  get_balance_history: (_, random) => some(page(random)),
  get_spending: (_, random) => some({ ...lastDays(random), group_by: random.pick(GROUPS) }),
  list_statements: (_, random) => some(page(random)),
  list_api_keys: (_, random) => some(page(random)),
  list_topups: (_, random) => some(page(random)),
  list_cards: (_, random) => some(page(random)),
  list_transactions: (_, random) => some(page(random)),
  list_withdrawals: (_, random) => some(page(random)),
  list_disputes: (_, random) => some(page(random)),
  list_webhooks: () => some({ expand: 'deliveries' }),
  list_tickets: (_, random) => some(page(random)),
  list_approvals: (_, random) => some({ ...page(random), status: 'pending' }),
  decide_approval: ({ session }, random) => ({
    input: { id: NO_APPROVAL, decision: random.pick(['approve', 'decline']) },
    bearer: session,
  }),
  get_activity: (_, random) => some(page(random)),
  filter_activity: (_, random) => some({ ...page(random), type: random.pick(['card', 'spend']) }),
  get_audit_log: (_, random) => some(page(random)),
  list_card_transactions: (holder, random) => ofCard(holder, random, page(random)),
  get_card: (holder, random) => ofCard(holder, random),
  get_topup: ({ topups }, random) =>
    ofMap(
      [...topups.values()].map(({ id }) => id),
      random,
    ),
  get_withdrawal: ({ withdrawals }, random) => ofMap(withdrawals.values(), random),
  get_dispute: ({ disputes }, random) => ofMap(disputes.values(), random),
  add_dispute_evidence: ({ disputes }, random) =>
    ofMap(disputes.values(), random, { kind: 'note', note: 'I was not there.' }),
  request_password_reset: ({ email }) => ({ input: { email }, bearer: '' }),
  reset_password: () => ({ input: { token: 'unknown', password: PASSWORD }, bearer: '' }),
  list_sessions: (_, random) => some(page(random)),
  update_card: (holder, random) =>
    ofCard(holder, random, { name: random.pick(['Travel', 'Food', null]) }),
  open_ticket: () => some({ subject: 'Help', message: 'Please', category: 'other' }),
  update_account: (_, random) => some({ notifications: { card_frozen: random.chance(50) } }),
  sign_in: ({ email }) => ({ input: { email, password: PASSWORD }, bearer: '' }),
  enable_2fa: ({ session }) => ({ input: {}, bearer: session }),
  disable_2fa: ({ session }) => ({
    input: { password: PASSWORD, totp_code: '000000' },
    bearer: session,
  }),
}

const NAMES = [
  ...Object.keys(choices),
  ...['keys', 'webhooks', 'sessions', 'details', 'replay', 'tickets'],
] as (OperationName | Sequence)[]
type Sequence = 'keys' | 'webhooks' | 'sessions' | 'details' | 'replay' | 'tickets'

/** Calls that need the result of another call. */
const sequences: Record<Sequence, (session: Session, holder: Holder) => Promise<void>> = {
  keys: async (session, { key }) => {
    const { body } = await callOperation(session, 'create_api_key', { name: 'spare' }, key)
    if (typeof body['id'] === 'string') {
      await callOperation(session, 'revoke_api_key', { id: body['id'] }, key)
    }
  },
  webhooks: async (session, { key }) => {
    const input = { url: 'https://example.com/hook', events: ['card.frozen'] }
    const { body } = await callOperation(session, 'create_webhook', input, key)
    const { id } = body
    if (typeof id !== 'string') return
    await callOperation(session, 'update_webhook', { id, description: 'changed' }, key)
    await callOperation(session, 'delete_webhook', { id }, key)
  },
  sessions: async (session, { email, key }) => {
    const input = { email, password: PASSWORD }
    const { body } = await callOperation(session, 'sign_in', input, '')
    const { bearer, session_id } = body
    if (session.random.chance(50) && typeof session_id === 'string') {
      await callOperation(session, 'revoke_session', { id: session_id }, key)
    } else if (typeof bearer === 'string') await callOperation(session, 'sign_out', {}, bearer)
  },
  details: async (session, { key }) => {
    const { body } = await callOperation(session, 'list_transactions', { limit: 5 }, key)
    const rows = (body['data'] ?? []) as { id: string }[]
    for (const { id } of rows.slice(0, 2)) {
      await callOperation(session, 'get_transaction', { id }, key)
      await callOperation(session, 'get_auth_details', { id }, key)
    }
  },
  replay: async (session, { key, webhook_id }) => {
    if (webhook_id === null) return
    const { body } = await callOperation(session, 'get_activity', { limit: 20 }, key)
    const rows = (body['data'] ?? []) as { id: string; sequence: number | null }[]
    const eid = rows.find(({ sequence }) => sequence !== null)?.id
    if (eid !== undefined) {
      await callOperation(session, 'replay_webhook', { id: webhook_id, eid }, key)
    }
  },
  tickets: async (session, { key }) => {
    const { body } = await callOperation(session, 'list_tickets', { limit: 1 }, key)
    const [ticket] = (body['data'] ?? []) as { id: string }[]
    if (ticket === undefined) return
    await callOperation(session, 'reply_ticket', { id: ticket.id, body: 'Any news?' }, key)
    await callOperation(session, 'get_ticket', { id: ticket.id }, key)
  },
}

/** A call that the model does not know; it may be refused but must not fail. */
export async function makeOtherCall(session: Session, holder: Holder): Promise<void> {
  const name = session.random.pick(NAMES)
  if (name in sequences) return sequences[name as Sequence](session, holder)
  const plan = choices[name as OperationName]?.(holder, session.random) ?? null
  if (plan === null) return
  const { body } = await callOperation(
    session,
    name as OperationName,
    plan.input,
    plan.bearer ?? holder.key,
  )
  requireOrder(session, name, body['data'])
}

type ListedRow = { id?: string; key?: string; period?: string }

/** A page has no row twice. Groups of spending have a key and statements a period. */
function requireOrder({ transport }: Session, name: string, data: unknown): void {
  if (!Array.isArray(data)) return
  const ids = data.map(({ id, key, period }: ListedRow) => id ?? key ?? period)
  if (new Set(ids).size === ids.length) return
  transport.monitor.violate('a page shows a row twice', { name, ids })
}
