import type { SpendCommand } from '#test/simulation/model/budgets.ts'
import type { Command, Limits, Rules } from '#test/simulation/model/commands.ts'
import type { Random } from '#test/simulation/random.ts'
import { type Holder, nameIn } from './holder.ts'

type Context = { holder: Holder; random: Random }
type Choose = (context: Context) => Command | null

const CENT = 10_000n
const USD = 1_000_000n

/** Mostly sensible amounts, sometimes ones that a rule refuses. */
function amountOf(random: Random, most_usd: number): bigint {
  const dice = random.below(40)
  if (dice === 0) return 0n
  if (dice === 1) return USD / 2n
  if (dice === 2) return 12_345n
  if (dice === 3) return 10_001n * USD
  return BigInt(random.between(100, most_usd * 100)) * CENT
}

const onCard = ({ holder, random }: Context) => ({
  account: holder.name,
  card: random.pick(holder.cards).name,
})

function limitsOf(random: Random): Partial<Limits> {
  const limit = (most: number) =>
    random.chance(25) ? null : random.chance(3) ? 0n : BigInt(random.between(1, most)) * USD
  return {
    ...(random.chance(50) && { per_transaction: limit(500) }),
    ...(random.chance(60) && { daily: limit(2_000) }),
    ...(random.chance(40) && { monthly: limit(6_000) }),
  }
}

function rulesOf(random: Random, values: readonly string[]): Partial<Rules> {
  const list = (): string[] | null =>
    random.chance(60) ? null : values.filter(() => random.chance(50))
  return {
    ...(random.chance(30) && { allow: random.chance(80) ? null : [...values] }),
    ...(random.chance(70) && { deny: list() }),
  }
}

/** A lock is sometimes refused, because the card is not for one merchant. */
function usageOf(random: Random) {
  const usage = random.pick(['reusable', 'reusable', 'single_use', 'merchant_locked'] as const)
  const isLocked = random.chance(usage === 'merchant_locked' ? 30 : 2)
  return {
    ...(usage !== 'reusable' && { usage }),
    ...(isLocked && { lock: { name: 'Corner Shop', id: random.pick(['MERCHANT0000001', null]) } }),
  }
}

/** Few amounts, so that a call is repeated after its approval. */
const agentAmount = ({ random }: Context): bigint => BigInt(random.pick([10, 15, 40, 90])) * USD

const asAgent = ({ holder: { agent } }: Context, command: SpendCommand): Command | null =>
  agent === null ? null : { ...command, agent: agent.name }

const choices = {
  load_card: (context) => ({
    op: 'load_card',
    ...onCard(context),
    amount: amountOf(context.random, 400),
  }),
  unload_card: (context) => ({
    op: 'unload_card',
    ...onCard(context),
    ...(context.random.chance(85) && { amount: amountOf(context.random, 150) }),
  }),
  freeze_card: (context) => ({ op: 'freeze_card', ...onCard(context) }),
  unfreeze_card: (context) => ({ op: 'unfreeze_card', ...onCard(context) }),
  admin_freeze: (context) => ({ op: 'freeze_card', by: 'admin', ...onCard(context) }),
  admin_unfreeze: (context) => ({ op: 'unfreeze_card', by: 'admin', ...onCard(context) }),
  cancel_card: (context) => ({ op: 'cancel_card', ...onCard(context) }),
  replace_card: (context) => ({
    op: 'replace_card',
    ...onCard(context),
    replacement: nameIn(context.holder, 'card'),
  }),
  issue_card: ({ holder, random }) => ({
    op: 'issue_card',
    account: holder.name,
    card: nameIn(holder, 'card'),
    ...(random.chance(80) && { load: amountOf(random, 400) }),
    ...(random.chance(30) && { limits: limitsOf(random) }),
    ...usageOf(random),
  }),
  set_card_limits: (context) => {
    const limits = limitsOf(context.random)
    if (Object.keys(limits).length === 0) return null
    return { op: 'set_card_limits', ...onCard(context), limits }
  },
  set_mcc_rules: (context) => {
    const rules = rulesOf(context.random, ['5812', '5541', '5411', '5700-5799'])
    if (Object.keys(rules).length === 0) return null
    return { op: 'set_mcc_rules', ...onCard(context), rules }
  },
  set_card_geo: (context) => {
    const rules = rulesOf(context.random, ['FR', 'DE', 'JP', 'US'])
    if (Object.keys(rules).length === 0) return null
    return { op: 'set_card_geo', ...onCard(context), rules }
  },
  withdraw: ({ holder, random }) => ({
    op: 'withdraw',
    account: holder.name,
    withdrawal: nameIn(holder, 'withdrawal'),
    amount: amountOf(random, 60),
  }),
  file_dispute: ({ holder, random }) => {
    if (holder.captures.length === 0) return null
    return {
      op: 'file_dispute',
      account: holder.name,
      dispute: nameIn(holder, 'dispute'),
      capture: random.pick(holder.captures).command.message,
      ...(random.chance(40) && { amount: BigInt(random.between(1, 3_000)) * CENT }),
    }
  },
  answer_dispute: ({ holder, random }) => {
    if (holder.disputes.size === 0) return null
    const dispute = random.pick([...holder.disputes.keys()])
    return { op: 'answer_dispute', account: holder.name, dispute }
  },
  close_dispute: ({ holder, random }) => {
    if (holder.disputes.size === 0) return null
    const dispute = random.pick([...holder.disputes.keys()])
    const outcome = random.chance(50) ? 'won' : 'lost'
    return { op: 'close_dispute', account: holder.name, dispute, outcome }
  },
  agent_load: (context) =>
    asAgent(context, { op: 'load_card', ...onCard(context), amount: agentAmount(context) }),
  agent_unload: (context) =>
    asAgent(context, { op: 'unload_card', ...onCard(context), amount: agentAmount(context) }),
  agent_issue: (context) => {
    const { holder } = context
    const card = nameIn(holder, 'card')
    return asAgent(context, {
      ...{ op: 'issue_card', account: holder.name, card, load: agentAmount(context) },
    })
  },
  agent_withdraw: (context) => {
    const { holder } = context
    const withdrawal = nameIn(holder, 'withdrawal')
    return asAgent(context, {
      ...{ op: 'withdraw', account: holder.name, withdrawal, amount: agentAmount(context) },
    })
  },
  decide_approval: ({ holder, random }) => {
    const { agent, name } = holder
    if (agent === null || agent.approvals.size === 0) return null
    const call = random.pick([...agent.approvals.keys()])
    const decision = random.chance(75) ? 'approved' : 'declined'
    return { op: 'decide_approval', account: name, agent: agent.name, call, decision }
  },
  repeat_refused: ({ holder, random }) => {
    if (holder.agent === null || holder.agent.approvals.size === 0) return null
    const { command } = random.pick([...holder.agent.approvals.values()])
    if (command.op === 'issue_card') return { ...command, card: nameIn(holder, 'card') }
    if (command.op === 'withdraw') return { ...command, withdrawal: nameIn(holder, 'withdrawal') }
    return command
  },
  suspend_account: ({ holder }) => ({ op: 'suspend_account', account: holder.name }),
  reinstate_account: ({ holder }) => ({ op: 'reinstate_account', account: holder.name }),
} as const satisfies Record<string, Choose>

export type CallKind = keyof typeof choices

export const call_weights: Readonly<Record<CallKind, number>> = {
  load_card: 22,
  unload_card: 10,
  freeze_card: 3,
  unfreeze_card: 8,
  admin_freeze: 1,
  admin_unfreeze: 3,
  cancel_card: 1,
  replace_card: 2,
  issue_card: 5,
  set_card_limits: 8,
  set_mcc_rules: 3,
  set_card_geo: 3,
  withdraw: 3,
  file_dispute: 12,
  answer_dispute: 2,
  close_dispute: 8,
  agent_load: 1,
  agent_unload: 1,
  agent_issue: 1,
  agent_withdraw: 1,
  decide_approval: 1,
  repeat_refused: 1,
  suspend_account: 1,
  reinstate_account: 8,
}

/** The next call of the account's owner or of an operator. */
export function chooseCall(
  context: Context,
  weights: Readonly<Record<CallKind, number>>,
): Command | null {
  const kind = context.random.weighted(weights)
  return kind === null ? null : choices[kind](context)
}

const agent_weights: Readonly<Partial<Record<CallKind, number>>> = {
  ...{ agent_load: 12, agent_unload: 4, agent_issue: 1, agent_withdraw: 2 },
  ...{ decide_approval: 8, repeat_refused: 8 },
}

/** The next call of the holder's app, or a decision about one. */
export function chooseAgentCall(context: Context): Command | null {
  const kind = context.random.weighted(agent_weights)
  return kind === null ? null : choices[kind](context)
}
