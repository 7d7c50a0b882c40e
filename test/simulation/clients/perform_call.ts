import { setTimeout as delay } from 'node:timers/promises'
import { callOf, type SpendCommand } from '#test/simulation/model/budgets.ts'
import type { Command, Limits, Outcome } from '#test/simulation/model/commands.ts'
import { callAsAgent, callAsOwner, noteApproval } from './agents.ts'
import type { Answer, Input } from './call.ts'
import { cardOf, type Holder, keep } from './holder.ts'
import {
  callOperation,
  callPath,
  micros,
  outcomeOf,
  revealCard,
  type Session,
  usd,
} from './session.ts'

/** A valid address outside the service. */
const WALLET = 'TB7mhtkvfhsRBRhe5FuRa4tFXSEyGDe4eA'

/** A node whose notification was lost knows a credential's state this late. */
const CREDENTIALS_KEPT_MS = 700

/** The outcome as far as the response shows it; null if no call was made. */
export type Seen = Partial<Outcome> | null

/** Makes the call of a command; returns the response in the model's words. */
export async function performCall(
  session: Session,
  holder: Holder,
  command: Command,
): Promise<Seen> {
  const call = (name: Parameters<typeof callOperation>[1], input: Record<string, unknown>) =>
    callOperation(session, name, input, holder.key)
  const idOf = (name: string) => cardOf(holder, name).id
  if (command.op === 'decide_approval' || ('agent' in command && command.agent !== undefined)) {
    return performForAgent(session, holder, command as AgentCommand)
  }
  switch (command.op) {
    case 'load_card':
    case 'unload_card': {
      const amount_usd = command.amount === undefined ? undefined : usd(command.amount)
      const answer = await call(command.op, { id: idOf(command.card), amount_usd })
      return withAmount(answer)
    }
    case 'freeze_card':
    case 'unfreeze_card':
    case 'cancel_card':
      if (command.by === 'admin') {
        const verb = command.op.replace('_card', '')
        const path = `/operator/v1/cards/${idOf(command.card)}/${verb}`
        return outcomeOf(await callPath(session, `operator_${command.op}`, { path }))
      }
      return outcomeOf(await call(command.op, { id: idOf(command.card) }))
    case 'set_card_limits':
      return outcomeOf(
        await call(command.op, { id: idOf(command.card), ...limitInput(command.limits) }),
      )
    case 'set_mcc_rules':
    case 'set_card_geo':
      return outcomeOf(await call(command.op, { id: idOf(command.card), ...command.rules }))
    case 'issue_card':
      return addCard(session, holder, command.card, await issue(session, holder, command))
    case 'replace_card': {
      const answer = await call('replace_card', { id: idOf(command.card) })
      return addCard(session, holder, command.replacement, answer)
    }
    default:
      return performMoney(session, holder, command)
  }
}

type AgentCommand = SpendCommand | Extract<Command, { op: 'decide_approval' }>

/** A call of the holder's app, or the owner's decision about one. */
async function performForAgent(
  session: Session,
  holder: Holder,
  command: AgentCommand,
): Promise<Seen> {
  if (command.op === 'decide_approval') {
    const id = holder.agent?.approvals.get(command.call)?.id
    if (id === undefined) return null
    const decision = command.decision === 'approved' ? 'approve' : 'decline'
    const call = { name: command.op, input: { id, decision } }
    const answer = await callAsOwner(session, holder, call)
    return answer === null ? null : outcomeOf(answer)
  }
  const input = agentInput(holder, command)
  const answer = await callAsAgent(session, holder, { name: command.op, input })
  if (answer === null) return null
  noteApproval(holder, callOf(command), command, answer.body)
  if (answer.status >= 300) return outcomeOf(answer)
  if (command.op === 'issue_card') return addCard(session, holder, command.card, answer)
  if (command.op === 'withdraw') {
    holder.withdrawals.set(command.withdrawal, String(answer.body['id']))
    return outcomeOf(answer)
  }
  return withAmount(answer)
}

/** The same command has the same input, because an approval is for the same call. */
function agentInput(holder: Holder, command: SpendCommand): Input {
  const amount_usd = usd(('amount' in command ? command.amount : undefined) ?? 0n)
  if (command.op === 'issue_card') {
    return { type: 'virtual', bin: '400000', load_usd: usd(command.load ?? 0n) }
  }
  if (command.op === 'withdraw') return { amount_usd, address: WALLET }
  return { id: cardOf(holder, command.card).id, amount_usd }
}

async function performMoney(session: Session, holder: Holder, command: Command): Promise<Seen> {
  switch (command.op) {
    case 'withdraw': {
      const input = { amount_usd: usd(command.amount), address: WALLET }
      const answer = await callOperation(session, 'withdraw', input, holder.key)
      if (answer.status < 300) holder.withdrawals.set(command.withdrawal, String(answer.body['id']))
      return outcomeOf(answer)
    }
    case 'file_dispute':
      return fileDispute(session, holder, command)
    case 'answer_dispute':
    case 'close_dispute': {
      const id = holder.disputes.get(command.dispute)
      const verb = command.op === 'answer_dispute' ? 'answer' : 'close'
      const body = command.op === 'close_dispute' ? { outcome: command.outcome } : { text: 'Ok' }
      const path = `/operator/v1/disputes/${id}/${verb}`
      return outcomeOf(await callPath(session, `operator_${command.op}`, { path, body }))
    }
    case 'suspend_account':
    case 'reinstate_account': {
      const verb = command.op.replace('_account', '')
      const path = `/operator/v1/accounts/${holder.account_id}/${verb}`
      const seen = outcomeOf(await callPath(session, `operator_${command.op}`, { path }))
      await delay(CREDENTIALS_KEPT_MS)
      return seen
    }
    default:
      throw new Error(`no call for ${command.op}`)
  }
}

type DisputeCommand = Extract<Command, { op: 'file_dispute' }>
type TransactionRow = {
  id: string
  retrieval_reference_number: string | null
  amount_usd: number
}

/** The message's answer has no transaction ID, so the capture is found by its reference. */
async function fileDispute(
  session: Session,
  holder: Holder,
  { dispute, capture, amount }: DisputeCommand,
): Promise<Seen> {
  const sent = holder.captures.find(({ command }) => command.message === capture)
  if (sent === undefined) return null
  const id = cardOf(holder, sent.command.card).id
  const filter = { id, type: 'capture', limit: 100 }
  const listed = await callOperation(session, 'list_card_transactions', filter, holder.key)
  const rows = (listed.body['data'] ?? []) as TransactionRow[]
  const found = rows.filter((row) => row.retrieval_reference_number === sent.command.rrn)
  const [one] = found
  if (one === undefined || found.length > 1) return null
  // A message whose answer was lost may have no row; the one found is then of another capture.
  const { command: capturing } = sent
  if (!('charge' in capturing) || micros(one.amount_usd) !== capturing.charge.micros) return null
  const input = {
    transaction_id: one.id,
    reason: 'fraudulent',
    explanation: 'Not mine.',
    ...(amount !== undefined && { amount_usd: usd(amount) }),
  }
  const answer = await callOperation(session, 'file_dispute', input, holder.key)
  if (answer.status < 300) {
    holder.disputes.set(dispute, String(answer.body['id']))
    keep(holder.disputed, sent)
  }
  return outcomeOf(answer)
}

type IssueCommand = Extract<Command, { op: 'issue_card' }>

function issue(session: Session, holder: Holder, command: IssueCommand): Promise<Answer> {
  const { load, limits, usage, lock } = command
  const input = {
    type: 'virtual',
    bin: session.random.chance(30) ? '555555' : '400000',
    ...(load !== undefined && { load_usd: usd(load) }),
    ...(limits !== undefined && { limits: limitInput(limits) }),
    ...(usage !== undefined && { usage }),
    ...(lock !== undefined && { merchant_lock: lock }),
  }
  return callOperation(session, 'issue_card', input, holder.key)
}

async function addCard(
  session: Session,
  holder: Holder,
  name: string,
  answer: Answer,
): Promise<Seen> {
  if (answer.status >= 300) return outcomeOf(answer)
  const card = await revealCard(session, holder, { id: String(answer.body['id']), name })
  if (card !== null) holder.cards.push(card)
  return { result: 'ok' }
}

const limitInput = ({ per_transaction, daily, monthly }: Partial<Limits>) => ({
  ...(per_transaction !== undefined && { per_transaction_usd: orNull(per_transaction) }),
  ...(daily !== undefined && { daily_usd: orNull(daily) }),
  ...(monthly !== undefined && { monthly_usd: orNull(monthly) }),
})

const orNull = (amount: bigint | null): number | null => (amount === null ? null : usd(amount))

function withAmount(answer: Answer): Seen {
  if (answer.status >= 300) return outcomeOf(answer)
  return { result: 'ok', amount: micros(answer.body['amount_usd']) }
}
