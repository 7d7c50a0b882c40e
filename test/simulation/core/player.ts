import { nextAttemptAt } from '#domain/webhooks/schedule.ts'
import { USD } from '#test/simulation/model/amounts.ts'
import type { Command } from '#test/simulation/model/commands.ts'
import { nextAttempt } from '#test/simulation/model/deliveries.ts'
import { Model } from '#test/simulation/model/model.ts'
import { findDifference } from './compare.ts'
import { runCoreBatch } from './core_batch.ts'
import { runCoreCall } from './core_calls.ts'
import type { EngineCommand } from './core_requests.ts'
import { type CoreState, newCoreState, rowsOf } from './core_state.ts'
import { type Control, isControl, outcomeText, type RunSettings, type Step } from './steps.ts'

const ENGINE_COMMANDS: ReadonlySet<string> = new Set<EngineCommand['op']>([
  ...(['authorize', 'increment', 'debit', 'verify', 'balance', 'credit', 'advise'] as const),
  ...(['advise_declined', 'capture', 'refund', 'reverse'] as const),
  ...(['expire_authorization', 'book_clearing'] as const),
])

export const isEngineCommand = (command: Command | Control): command is EngineCommand =>
  ENGINE_COMMANDS.has(command.op)

/** A step after which the model and the core differ. */
export class Violation extends Error {}

/** Plays steps on the model and on the core, and compares them after each. */
export class Player {
  readonly model: Model
  readonly #core: CoreState
  /** The response to each step as text, for the trace. */
  readonly responses: string[] = []

  constructor(settings: RunSettings) {
    this.#core = newCoreState(settings)
    const { partial_approvals, blocked_countries, refund_review_usd } = settings
    this.model = new Model({
      now: 0,
      partial_approvals,
      blocked_countries,
      refund_review: refund_review_usd === null ? null : BigInt(refund_review_usd) * USD,
    })
  }

  async play(steps: readonly Step[]): Promise<void> {
    for (let at = 0; at < steps.length; ) {
      const batch = batchAt(steps, at)
      await this.playBatch(batch)
      at += batch.length
    }
  }

  /** Plays steps of one batch; a call or a control is a batch of its own. */
  async playBatch(steps: readonly Step[]): Promise<void> {
    const [first] = steps
    if (first === undefined) return
    const { at, command } = first
    this.model.setTime(at)
    if (isControl(command)) this.#control(command, at)
    else if (isEngineCommand(command)) await this.#messages(steps, at)
    else await this.#call(command, at)
    const accounts = steps.flatMap((step) => (isControl(step.command) ? [] : step.command.account))
    for (const account of new Set(accounts)) this.#compare(account, isEngineCommand(command))
  }

  #control(command: Control, now: number): void {
    if (command.op === 'set_kill_switch') {
      this.model.setKillSwitch(command.rail, command.on)
      if (command.on) this.#core.killed.add(command.rail)
      else this.#core.killed.delete(command.rail)
      this.responses.push('')
      return
    }
    const random = { below: (limit: number) => Math.floor((command.random / 1_000_000) * limit) }
    const at = nextAttemptAt({ ...command, now: new Date(now), random })?.getTime() ?? null
    const expected = nextAttempt(now, command)
    const isRight =
      expected === null ? at === null : at !== null && expected.from <= at && at <= expected.to
    this.responses.push(`next attempt at ${at}`)
    if (!isRight) throw new Violation(`the model expects ${JSON.stringify(expected)}, got ${at}`)
  }

  async #call(command: Command, now: number): Promise<void> {
    const outcome = await runCoreCall(this.#core, command, new Date(now))
    this.#respond(command, outcomeText(outcome))
  }

  async #messages(steps: readonly Step[], now: number): Promise<void> {
    const commands = steps.map(({ command }) => command).filter(isEngineCommand)
    await runCoreBatch(this.#core, { now: new Date(now), commands }, (outcome, at) => {
      const command = commands[at]
      if (command !== undefined) this.#respond(command, outcome)
    })
  }

  #respond(command: Command, outcome: string): void {
    this.responses.push(outcome)
    const isReplaced = this.#isReplaced(command)
    const textOf = (text: string) => (isReplaced ? withoutUsage(text) : text)
    const predicted = this.model.apply(command).map((one) => textOf(outcomeText(one)))
    if (!predicted.includes(textOf(outcome))) {
      throw new Violation(`the model predicts ${predicted.join(' or ')}`)
    }
  }

  #isReplaced(command: Command): boolean {
    const [state] = this.model.possible(command.account)
    const card = 'card' in command ? state?.cards.get(command.card) : undefined
    return card !== undefined && card.replaced_by !== null
  }

  #compare(account: string, is_message: boolean): void {
    const [model] = this.model.possible(account)
    if (model === undefined) return
    const { now } = this.model.programme
    const difference = findDifference({ model, core: rowsOf(this.#core, account), now, is_message })
    if (difference !== null) throw new Violation(difference)
  }
}

/**
 * A replaced card declines every request. Whether its failed rules also list a limit depends on the
 * batch: requests don't load the card that counts now.
 */
const withoutUsage = (text: string): string => text.replace(/"limit_(daily|monthly)",?/g, '')

/** The steps of the batch that begins here. */
function batchAt(steps: readonly Step[], at: number): Step[] {
  const first = steps[at]
  if (first === undefined) return []
  const batch = [first]
  for (const step of steps.slice(at + 1)) {
    const isSame = step.batch === first.batch && isEngineCommand(step.command)
    if (!isSame || !isEngineCommand(first.command)) break
    batch.push(step)
  }
  return batch
}
