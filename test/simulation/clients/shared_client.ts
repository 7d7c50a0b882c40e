import { setTimeout as delay } from 'node:timers/promises'
import { chooseCall } from './choose_call.ts'
import { chooseMessage } from './choose_message.ts'
import { type Holder, keep } from './holder.ts'
import { makeOtherCall } from './other_calls.ts'
import { performCall } from './perform_call.ts'
import { callPath, type Session } from './session.ts'
import type { Weights } from './weights.ts'
import { messageKey } from './wire_key.ts'

type SharedClient = {
  session: Session
  weights: Weights
  holders: readonly Holder[]
  isOver(): boolean
}

/**
 * One of several clients on the same accounts at the same time. The order of their calls is
 * unknown, so no answer is predicted; the checks still prove the books, events and effects.
 */
export async function runSharedClient(client: SharedClient): Promise<void> {
  const { session, weights, holders, isOver } = client
  const { random, transport } = session
  const pace: Pace = { most: 8 }
  while (!isOver()) {
    const holder = random.pick(holders)
    const step = random.weighted(weights.steps)
    if (step === 'call') await call(session, holder, weights.calls)
    else if (step === 'other') await makeOtherCall(session, holder)
    else if (step === 'read') await buyWithChallenge(session, holder)
    else if (holder.webhook_id === null) await burst(session, holder, weights.messages, pace)
    else await message(session, holder, weights.messages)
  }
  transport.trace.write({ what: 'client ended' })
}

async function call(
  session: Session,
  holder: Holder,
  weights: Parameters<typeof chooseCall>[1],
): Promise<void> {
  const command = chooseCall({ holder, random: session.random }, weights)
  if (command === null) return
  const seen = await performCall(session, holder, command)
  session.transport.trace.write({ what: 'shared call', command, seen })
}

type MessageWeights = Parameters<typeof chooseMessage>[1]

const BURSTS: readonly (readonly [number, number])[] = [
  [2, 8],
  [8, 24],
  [24, 80],
]
const BURST_MAX = 80
const PAUSE_MS = [50, 500] as const
/** The host declines what has waited for a second, and a repeat costs as much again. */
const SLOW_MS = 600

/** A client sends smaller bursts while the host is slow, as networks do. */
type Pace = { most: number }

/** Messages of a busy account that a network sends without waiting; mostly over one line. */
async function burst(
  session: Session,
  holder: Holder,
  weights: MessageWeights,
  pace: Pace,
): Promise<void> {
  const { random } = session
  const home = (Number(holder.name.at(-1)) % 2) as 0 | 1
  const node = random.chance(85) ? home : (random.below(2) as 0 | 1)
  const count = Math.min(Math.round(pace.most), random.between(...random.pick(BURSTS)))
  const began = performance.now()
  await Promise.all(Array.from({ length: count }, () => message(session, holder, weights, node)))
  const isSlow = performance.now() - began > SLOW_MS
  pace.most = isSlow ? Math.max(2, pace.most / 2) : Math.min(BURST_MAX, pace.most * 1.3)
  await delay(random.between(...PAUSE_MS))
}

async function message(
  session: Session,
  holder: Holder,
  weights: MessageWeights,
  node = session.random.below(2) as 0 | 1,
): Promise<void> {
  const { random, lines, transport } = session
  const now = new Date(session.now())
  const { command, wire } = chooseMessage({ holder, random, now }, weights)
  const { answer } = await lines.send(wire, node)
  const code = answer.fields[39] ?? ''
  transport.monitor.count(`card ${command.op}`, code)
  if (code !== '94') transport.acknowledged.messages.set(messageKey(wire), code)
  transport.trace.write({ what: 'shared message', command, mti: wire.mti, code })
  // A repeat at the same time on the other node gets the same answer.
  if (random.chance(3)) await repeatTogether(session, wire, code)
  keep(holder.sent, { command, wire })
}

/** A purchase with 3-D Secure: the sandbox's merchant waits for the cardholder's decision. */
async function buyWithChallenge(session: Session, holder: Holder): Promise<void> {
  const { random } = session
  const { id } = random.pick(holder.cards)
  const amount = random.between(100, 4_000) / 100
  const path = `/sandbox/v1/cards/${id}/authorize`
  const body = { amount, three_ds: true, merchant_name: 'Challenge Shop' }
  await callPath(session, 'sandbox_authorize', { path, body, bearer: holder.key })
}

async function repeatTogether(
  { lines, transport }: Session,
  wire: Parameters<typeof messageKey>[0],
  code: string,
): Promise<void> {
  const again = { ...wire, mti: `${wire.mti.slice(0, 3)}1` }
  const answers = await Promise.all([lines.sendOnce(again, 0), lines.sendOnce(again, 1)])
  for (const answer of answers) {
    if (answer === null) continue
    const repeated = answer.fields[39] ?? ''
    transport.monitor.count('card repeat', repeated)
    if (repeated === code) continue
    transport.monitor.violate('a repeat got another answer', {
      key: messageKey(wire),
      code,
      repeated,
    })
  }
}
