import { DAY_MS, dayOf, HOUR_MS, least, type Micros, monthOf, most } from './amounts.ts'
import type { BudgetPeriod, Command, Outcome } from './commands.ts'
import { type Agent, type AgentCharge, type Approval, ok, refused, type Scope } from './state.ts'

/**
 * Contract 10.2: a grant moves no more out of the treasury than its budget, except with the
 * owner's approval of that very call.
 */

export type SpendCommand = Extract<
  Command,
  { op: 'load_card' | 'unload_card' | 'issue_card' | 'withdraw' }
>

/** The same call: the same operation with the same input. */
export function callOf(command: SpendCommand): string {
  switch (command.op) {
    case 'issue_card':
      return `issue_card|${command.load}`
    case 'withdraw':
      return `withdraw|${command.amount}`
    default:
      return `${command.op}|${command.card}|${command.amount}`
  }
}

const currentDay = ({ day }: Agent, now: number): string => {
  const today = dayOf(now)
  return day > today ? day : today
}

/** The charges of a period, of one card or of all. */
function sum(agent: Agent, now: number, { period, card }: { period: BudgetPeriod; card?: string }) {
  const today = currentDay(agent, now)
  const isIn = ({ day }: AgentCharge) =>
    period === 'total' || (period === 'day' ? day === today : monthOf(day) === monthOf(today))
  return agent.charges
    .filter((charge) => isIn(charge) && (card === undefined || charge.card === card))
    .reduce((total, { amounts }) => total + amounts[period], 0n)
}

export const usedOf = (agent: Agent, now: number): Micros =>
  sum(agent, now, { period: agent.budget.period })

/** What a call may do with its budget. The owner's own calls have none. */
export type Spending = {
  /** True if the owner must approve the call first. It is asked before the balance is. */
  isRefused(amount: Micros): boolean
  charge(card: string | null, amount: Micros): void
  giveBack(card: string, amount: Micros): void
}

const UNLIMITED: Spending = {
  isRefused: () => false,
  charge: () => undefined,
  giveBack: () => undefined,
}

export function spendingOf({ programme, account }: Scope, command: SpendCommand): Spending {
  const { now } = programme
  const agent = account.agents.get(command.agent ?? '')
  if (agent === undefined) return UNLIMITED
  let approval: Approval | undefined
  const record = (card: string | null, amounts: AgentCharge['amounts']) => {
    agent.day = currentDay(agent, now)
    agent.charges.push({ card, day: agent.day, amounts })
  }
  return {
    isRefused: (amount) => {
      if (isWithin(agent, now, amount)) return false
      const call = callOf(command)
      approval = agent.approvals.find((one) => one.call === call && isUsable(one, now))
      if (approval !== undefined) return false
      const isAsked = agent.approvals.some((one) => one.call === call && isPending(one, now))
      const asked = { call, status: 'pending', created_at: now, decided_at: 0 } as const
      if (!isAsked) agent.approvals.push({ ...asked })
      return true
    },
    charge: (card, amount) => {
      if (approval !== undefined) approval.status = 'used'
      record(card, { day: amount, month: amount, total: amount })
    },
    // No more than the app itself has loaded onto the card in the period.
    giveBack: (card, amount) => {
      const back = (period: BudgetPeriod) =>
        -least(amount, most(0n, sum(agent, now, { period, card })))
      record(card, { day: back('day'), month: back('month'), total: back('total') })
    },
  }
}

function isWithin(agent: Agent, now: number, amount: Micros): boolean {
  const { amount: budget, ask_above } = agent.budget
  if (ask_above !== null && amount > ask_above) return false
  return amount <= budget - usedOf(agent, now)
}

const isPending = ({ status, created_at }: Approval, now: number): boolean =>
  status === 'pending' && now < created_at + DAY_MS

const isUsable = ({ status, decided_at }: Approval, now: number): boolean =>
  status === 'approved' && now < decided_at + HOUR_MS

type GrantCommand = Extract<Command, { op: 'grant_budget' }>

export function grantBudget({ account }: Scope, { agent, budget }: GrantCommand): Outcome {
  account.agents.set(agent, { budget, day: '', charges: [], approvals: [] })
  return ok()
}

type DecideCommand = Extract<Command, { op: 'decide_approval' }>

/** Decides about the latest approval of a call. */
export function decideApproval({ programme, account }: Scope, command: DecideCommand): Outcome {
  const { now } = programme
  const approvals = account.agents.get(command.agent)?.approvals ?? []
  const approval = approvals.findLast(({ call }) => call === command.call)
  if (approval === undefined) return refused('not_found')
  if (!isPending(approval, now)) return refused('approval_decided')
  approval.status = command.decision
  approval.decided_at = now
  return ok()
}
