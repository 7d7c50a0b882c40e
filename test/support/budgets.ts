import assert from 'node:assert/strict'
import type { Approval } from '#contract/approvals.ts'
import type { ErrorBody } from '#contract/shapes.ts'
import type { ApprovalRequest, ApprovalRow } from '#domain/budgets/approval.ts'
import { insertApproval } from '#domain/budgets/approval_store.ts'
import { type Agent, authorize, type Choice, registerAgent } from './agent.ts'
import { type Reply, send } from './http.ts'
import type { Person } from './people.ts'
import type { TestService } from './start.ts'

const SCOPES = [
  'balance:read',
  'card:read',
  'card:issue',
  'card:control',
  'withdrawal:create',
  'system:read',
]

export type BudgetInput = {
  amount_usd: number
  period?: 'day' | 'month' | 'total'
  ask_above_usd?: number
}

export type BudgetAgent = { agent: Agent; token: string; refresh_token: string }

/** A token for the REST API whose grant has this budget. */
export async function grantBudget(
  url: string,
  person: Person,
  budget: BudgetInput | null,
  options: { agent?: Agent } & Choice & { authorization_details?: object[] } = {},
): Promise<BudgetAgent> {
  const agent = options.agent ?? (await registerAgent(url, { client_name: 'Shopper' }))
  const detail = { type: 'spend_budget', period: 'day', ...budget }
  const { access_token, refresh_token } = await authorize(agent, person, {
    resource: `${url}/v1`,
    scope: SCOPES.join(' '),
    scopes: SCOPES,
    ...options,
    authorization_details: [
      ...(options.authorization_details ?? []),
      ...(budget === null ? [] : [detail]),
    ],
  })
  return { agent, token: access_token, refresh_token }
}

export const loadCard = (url: string, bearer: string, { id, usd }: { id: string; usd: number }) =>
  send(url, 'POST', `/v1/cards/${id}/load`, { bearer, body: { amount_usd: usd } })

export const unloadCard = (url: string, bearer: string, { id, usd }: { id: string; usd: number }) =>
  send(url, 'POST', `/v1/cards/${id}/unload`, { bearer, body: { amount_usd: usd } })

export type BudgetView = {
  amount_usd: number
  period: string
  used_usd: number
  resets_at: string | null
  ask_above_usd: number | null
}

export async function budgetOf(url: string, bearer: string): Promise<BudgetView> {
  const reply = await send(url, 'GET', '/v1/system/limits', { bearer })
  assert.equal(reply.status, 200, reply.text)
  return reply.body['budget'] as BudgetView
}

/** The approval that a refused call left. */
export function approvalIn(reply: Reply): NonNullable<ErrorBody['approval']> {
  assert.equal(reply.status, 403, reply.text)
  assert.equal(reply.body['error'], 'approval_required', reply.text)
  const { approval } = reply.body as unknown as ErrorBody
  assert.ok(approval !== undefined, reply.text)
  return approval
}

export const decide = (
  url: string,
  bearer: string,
  { id, decision = 'approve' }: { id: string; decision?: 'approve' | 'decline' },
) => send(url, 'POST', `/v1/approvals/${id}`, { bearer, body: { decision } })

export async function listApprovals(url: string, bearer: string, query = ''): Promise<Approval[]> {
  const reply = await send(url, 'GET', `/v1/approvals${query}`, { bearer })
  assert.equal(reply.status, 200, reply.text)
  return reply.body['data'] as Approval[]
}

/** An approval of an app that no longer exists; for tests of the call that decides. */
export function pendingApproval(
  { runtime }: Pick<TestService, 'runtime'>,
  account_id: string,
): Promise<ApprovalRow> {
  const now = runtime.clock.now()
  const request: ApprovalRequest = {
    account_id,
    grant_id: runtime.newId('grant', now),
    client_id: 'client',
    client_name: 'Shopper',
    operation: 'load_card',
    fingerprint: 'fingerprint',
    summary: 'Shopper wants to load $60.00 onto card ·· 8818.',
    reason: '$0.00 of the budget is left',
    amount_micros: 60_000_000n,
    card_id: null,
  }
  return insertApproval(runtime.db, request, { id: runtime.newId('apr', now), now })
}
