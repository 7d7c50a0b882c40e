import type { Gate } from '#test/simulation/gate.ts'
import type { Command, Rail } from '#test/simulation/model/commands.ts'
import { describe, Mismatch, Model } from '#test/simulation/model/model.ts'
import { openAgent } from './agents.ts'
import { readChallengeResult, runChallenge } from './challenges.ts'
import { chooseAgentCall, chooseCall } from './choose_call.ts'
import { chooseMessage, type NextMessage } from './choose_message.ts'
import { cardOf, nameIn } from './holder.ts'
import type { Life } from './life.ts'
import { depositByModel } from './model_deposits.ts'
import { chooseMoneyBack } from './money_back.ts'
import { openHolder } from './open_holder.ts'
import { makeOtherCall } from './other_calls.ts'
import { performCall } from './perform_call.ts'
import { readAccount } from './read_account.ts'
import { isPredicted } from './response_codes.ts'
import type { Session } from './session.ts'
import type { Step, Weights } from './weights.ts'
import { messageKey } from './wire_key.ts'

/** Steps until a client opens a new account: the model looks through all rows of an account. */
const LIFE_STEPS = 700
const UNKNOWN_WAIT_MS = 10_000
const AGENTS_PERCENT = 40

type ExactClient = {
  name: string
  session: Session
  weights: Weights
  gate: Gate
  isOver(): boolean
  /** The lives in progress, which the driver moves through time. */
  lives: Set<Life>
  killed: ReadonlySet<Rail>
}

/** A client alone on its accounts: the model predicts every answer. */
export async function runExactClient(client: ExactClient): Promise<void> {
  const { weights, gate, lives, isOver } = client
  for (let generation = 0; !isOver(); generation += 1) {
    const name = `${client.name}x${generation}`
    try {
      const life = await gate.runLong(() => begin(client, name))
      await live(client, life, weights)
    } catch (cause) {
      reportFailure(client, name, cause)
    } finally {
      for (const one of lives) if (one.holder.name === name) lives.delete(one)
    }
  }
}

async function live({ gate, isOver }: ExactClient, life: Life, weights: Weights): Promise<void> {
  // A life may end while its client waits at the gate.
  const unlessEnded = <Value>(work: (life: Life) => Promise<Value>) =>
    life.is_ended ? Promise.resolve(undefined) : work(life)
  for (let step = 0; step < LIFE_STEPS && !isOver() && !life.is_ended; step += 1) {
    const kind = chooseStep(life, weights)
    if (kind === 'deposit') await gate.runLong(() => unlessEnded(depositByModel))
    else if (kind === 'challenge') await gate.runLong(() => unlessEnded(runChallenge))
    else {
      const result = await gate.run(() => unlessEnded((one) => takeStep(one, kind, weights)))
      if (result === 'unknown') await gate.runLong(() => unlessEnded(settleUnknown))
    }
  }
  await gate.run(() => unlessEnded(readAccount))
}

function reportFailure({ session }: ExactClient, name: string, cause: unknown): void {
  const isMismatch = cause instanceof Mismatch
  const what = isMismatch ? 'the model predicted another answer' : 'a client failed'
  const reason = cause instanceof Error ? (isMismatch ? cause.message : cause.stack) : cause
  session.transport.monitor.violate(what, `account ${name}: ${reason}`)
}

async function begin({ session, killed, lives }: ExactClient, name: string): Promise<Life> {
  const settings = { killed: new Set(killed), partial_approvals: true }
  const model = new Model({ now: session.now(), ...settings })
  const holder = await openHolder(session, name)
  const life = { model, holder, session, is_ended: false }
  lives.add(life)
  model.apply({ op: 'create_account', account: name })
  await depositByModel(life, 'exact', BigInt(session.random.between(500, 6_000)) * 1_000_000n)
  const cards = session.random.pick([1, 2, 3, 10])
  for (let at = 0; at < cards; at += 1) {
    const load = BigInt(session.random.between(20, 150)) * 1_000_000n
    await call(life, { op: 'issue_card', account: name, card: nameIn(holder, 'card'), load })
  }
  if (session.random.chance(AGENTS_PERCENT)) await allowAgent(life)
  return life
}

/** Gives an app a budget that it will exceed. */
async function allowAgent({ model, session, holder }: Life): Promise<void> {
  const { random } = session
  const amount = BigInt(random.between(20, 300)) * 1_000_000n
  const period = random.pick(['day', 'month', 'total'] as const)
  const budget = { amount, period, ask_above: random.chance(30) ? 50_000_000n : null }
  holder.agent = await openAgent(session, holder, budget)
  if (holder.agent === null) return
  model.setTime(session.now())
  const agent = holder.agent.name
  model.apply({ op: 'grant_budget', account: holder.name, agent, budget })
}

const chooseStep = ({ holder, session }: Life, { steps }: Weights): Step =>
  holder.cards.length === 0 ? 'call' : (session.random.weighted(steps) ?? 'message')

/** `unknown`: the answer of a message was lost, and it is not repeated. */
type StepResult = 'unknown' | undefined

async function takeStep(life: Life, step: Step, weights: Weights): Promise<StepResult> {
  const { session, holder } = life
  const context = { holder, random: session.random, now: new Date(session.now()) }
  if (step === 'message') return message(life, chooseMessage(context, weights.messages))
  if (step === 'money_back') return getMoneyBack(life)
  if (step === 'read') return void (await readAccount(life))
  if (step === 'other') return void (await makeOtherCall(session, holder))
  const command = nextCommand(life, step, weights)
  if (command !== null) await call(life, command)
  return undefined
}

function nextCommand({ holder, session }: Life, step: Step, { calls }: Weights): Command | null {
  const { random } = session
  if (holder.cards.length === 0) {
    return { op: 'issue_card', account: holder.name, card: nameIn(holder, 'card') }
  }
  return step === 'agent'
    ? chooseAgentCall({ holder, random })
    : chooseCall({ holder, random }, calls)
}

async function call({ model, session, holder }: Life, command: Command): Promise<void> {
  const now = session.now()
  const seen = await performCall(session, holder, command)
  if (seen === null) return
  session.transport.trace.write({ what: 'call', command, seen })
  model.setTime(now)
  model.confirm(command, seen, { until: session.now() })
}

/** A dispute and a refund of one purchase, in either order. */
async function getMoneyBack(life: Life): Promise<StepResult> {
  const { session, holder } = life
  const now = new Date(session.now())
  const chosen = chooseMoneyBack({ holder, random: session.random, now })
  if (chosen === null) return undefined
  const { dispute, close, refund, isRefundedFirst } = chosen
  await call(life, dispute)
  if (!holder.disputes.has(dispute.dispute)) return undefined
  if (!isRefundedFirst) await call(life, close)
  if ((await message(life, refund)) === 'unknown') return 'unknown'
  if (isRefundedFirst) await call(life, close)
  return undefined
}

async function message(life: Life, { command, wire }: NextMessage): Promise<StepResult> {
  const { model, session, holder } = life
  const { random, lines, transport } = session
  const now = session.now()
  const pan = wire.fields[2] ?? ''
  const first = await lines.sendOnce(wire, random.below(2) as 0 | 1)
  if (first === null && random.chance(3)) return leaveUnknown(life, command)
  const repeat = { ...wire, mti: `${wire.mti.slice(0, 3)}1` }
  const answer = first ?? (await lines.send(repeat, random.below(2) as 0 | 1)).answer
  const code = answer.fields[39] ?? ''
  transport.monitor.count(`card ${command.op}`, code)
  if (code !== '94') transport.acknowledged.messages.set(messageKey(wire), code)
  transport.trace.write({ what: 'message', command, mti: wire.mti, code })
  model.setTime(now)
  try {
    model.confirm(command, (predicted) => isPredicted(predicted, { command, answer, pan }), {
      until: session.now(),
    })
    const isFirst = wire.mti === '0100'
    if (isFirst && 'challenge' in command && command.challenge !== undefined) {
      const card_id = cardOf(holder, command.card).id
      await readChallengeResult(life, { ...command, card_id })
    }
    return undefined
  } catch (cause) {
    const { 4: amount, 44: shown } = answer.fields
    if (cause instanceof Mismatch)
      cause.message += `\n  DE 39 ${code}, DE 4 ${amount}, DE 44 ${shown}`
    throw cause
  }
}

/** The message is not repeated: it took effect or not, and a later read decides. */
function leaveUnknown({ model, session }: Life, command: Command): 'unknown' {
  model.setTime(session.now())
  model.applyUnknown(command)
  session.transport.trace.write({ what: 'unknown', command: describe(command) })
  return 'unknown'
}

/** A node may still decide the message, until its deadline. */
async function settleUnknown(life: Life): Promise<void> {
  await new Promise((resolve) => setTimeout(resolve, UNKNOWN_WAIT_MS))
  await readAccount(life)
}
