import { setTimeout as delay } from 'node:timers/promises'
import type { SpendCommand } from '#test/simulation/model/budgets.ts'
import type { Budget } from '#test/simulation/model/commands.ts'
import { refresh } from '#test/support/agent.ts'
import { grantBudget } from '#test/support/budgets.ts'
import type { Answer, Input, OperationName } from './call.ts'
import { type Holder, type HolderAgent, PASSWORD } from './holder.ts'
import { callOperation, type Session, usd } from './session.ts'

const ATTEMPTS = 4
const PAUSE_MS = 500

/**
 * Registers an app and consents to its budget, as in a browser; again if a fault interrupts it. All
 * of it is done on one node, so without that node there is no app.
 */
export async function openAgent(
  { transport }: Session,
  holder: Holder,
  { amount, period, ask_above }: Budget,
): Promise<HolderAgent | null> {
  const { url } = transport.world.nodes[0]
  const person = { account_id: holder.account_id, email: holder.email, bearer: holder.session }
  const input = {
    ...{ amount_usd: usd(amount), period },
    ...(ask_above !== null && { ask_above_usd: usd(ask_above) }),
  }
  for (let attempt = 1; ; attempt += 1) {
    try {
      const { agent, token, refresh_token } = await grantBudget(url, person, input)
      transport.monitor.count('grant_budget', period)
      return { name: 'agent', oauth: agent, token, refresh_token, approvals: new Map() }
    } catch (cause) {
      transport.trace.write({ what: 'no agent', cause: String(cause).slice(0, 300) })
      transport.monitor.count('grant_budget', 'failed')
      if (attempt === ATTEMPTS || transport.monitor.isOver) return null
      await delay(PAUSE_MS)
    }
  }
}

/**
 * A call of the holder's app. Tokens end after an hour of the service's clock; an app whose refresh
 * failed is forgotten. Null: the call was not made.
 */
export async function callAsAgent(
  session: Session,
  holder: Holder,
  call: { name: OperationName; input: Input },
): Promise<Answer | null> {
  const { agent } = holder
  if (agent === null) return null
  const answer = await callOperation(session, call.name, call.input, agent.token)
  if (answer.status !== 401) return answer
  const isRefreshed = await refreshToken(session, agent)
  if (!isRefreshed) holder.agent = null
  return isRefreshed ? callOperation(session, call.name, call.input, agent.token) : null
}

async function refreshToken({ transport }: Session, agent: HolderAgent): Promise<boolean> {
  try {
    const { access_token, refresh_token } = await refresh(agent.oauth, agent.refresh_token)
    Object.assign(agent, { token: access_token, refresh_token })
    return true
  } catch (cause) {
    transport.trace.write({ what: 'no refresh', cause: String(cause).slice(0, 300) })
    return false
  }
}

/** Only a session may decide; an old one has expired by the service's clock. */
export async function callAsOwner(
  session: Session,
  holder: Holder,
  call: { name: OperationName; input: Input },
): Promise<Answer | null> {
  const answer = await callOperation(session, call.name, call.input, holder.session)
  if (answer.status !== 401) return answer
  const { email } = holder
  const signed_in = await callOperation(session, 'sign_in', { email, password: PASSWORD }, '')
  if (typeof signed_in.body['bearer'] !== 'string') return null
  holder.session = signed_in.body['bearer']
  return callOperation(session, call.name, call.input, holder.session)
}

/** Remembers the approval that a refused call asked for. */
export function noteApproval({ agent }: Holder, call: string, command: SpendCommand, body: Input) {
  const { approval } = body as { approval?: { id: string } }
  if (approval !== undefined) agent?.approvals.set(call, { id: approval.id, command })
}
