import type { CardMessage, Command } from '#test/simulation/model/commands.ts'
import type { Model } from '#test/simulation/model/model.ts'
import { Choices } from './choices.ts'
import { type DrawContext, drawCall } from './draw_calls.ts'
import { drawMessage, isDelayable } from './draw_messages.ts'
import { isEngineCommand } from './player.ts'
import { nextTime, startTime } from './random_clock.ts'
import type { Control, RunSettings, Step } from './steps.ts'

/** What a run does often, and what it does not do at all (swarm testing). */
type Weights = {
  message: number
  repeat: number
  delayed: number
  expire: number
  book: number
  call: number
  kill_switch: number
  delivery: number
}

/** Draws the steps of a run from a seed and the state of the model. */
export class StepGenerator {
  readonly settings: RunSettings
  readonly #choices: Choices
  readonly #weights: Weights
  readonly #accounts: readonly string[]
  readonly #sent: CardMessage[] = []
  #delayed: CardMessage[] = []
  #now: number
  #batch = 0
  #names = 0
  /** True if the next message may join the batch of the last one. */
  #is_open = false

  constructor(seed: number) {
    const choices = new Choices(seed)
    this.#choices = choices
    this.#now = startTime(choices)
    this.#accounts = choices.percent(70) ? ['ann'] : ['ann', 'bob']
    this.settings = {
      partial_approvals: choices.percent(50),
      refund_review_usd: choices.of(null, null, 0, 20),
      blocked_countries: choices.percent(20) ? ['RU'] : [],
    }
    this.#weights = {
      message: 40,
      repeat: choices.of(0, 2, 6),
      delayed: choices.of(1, 6),
      expire: choices.of(1, 6),
      book: choices.of(1, 4),
      call: choices.of(4, 12, 30),
      kill_switch: choices.of(0, 0, 1),
      delivery: 1,
    }
  }

  /** The first steps: accounts with money and a card each. */
  *opening(): Generator<Step, void, undefined> {
    for (const account of this.#accounts) {
      const topup = this.#name('t')
      const transfer = this.#name('x')
      const amount = BigInt(this.#choices.of(0, 50, 400, 2_000)) * 1_000_000n + 5_000_001n
      yield this.#step({ op: 'create_topup', account, topup, amount: 50_000_000n })
      yield this.#step({ op: 'see_transfer', account, topup, transfer, amount })
      yield this.#step({ op: 'settle_transfer', account, topup, transfer })
      const load = amount > 100_000_000n ? 100_000_000n : 5_000_000n
      yield this.#step({ op: 'issue_card', account, card: this.#name('card'), load })
    }
  }

  next(model: Model): Step {
    const account = this.#choices.of(...(this.#accounts as [string, ...string[]]))
    const [state] = model.possible(account)
    if (state === undefined) throw new Error(`${account} is not known`)
    const drawing: DrawContext = {
      choices: this.#choices,
      now: this.#now,
      account,
      state,
      limits: model.programme.limits,
      name: (prefix) => this.#name(prefix),
    }
    return this.#step(this.#draw(drawing, model))
  }

  #draw(drawing: DrawContext, model: Model): Command | Control {
    switch (this.#choices.weighted(this.#weights)) {
      case 'call':
        return drawCall(drawing)
      case 'kill_switch':
        return this.#killSwitch()
      case 'delivery':
        return {
          op: 'fail_delivery',
          attempts: 1 + this.#choices.below(11),
          retry_after_ms: this.#choices.percent(30) ? this.#choices.below(200_000_000) : null,
          random: this.#choices.below(1_000_001),
        }
      case 'expire':
        return this.#expiry(drawing, model.dueAuthorizations(drawing.account))
      case 'book':
        return this.#booking(drawing)
      case 'repeat':
        return this.#repeat() ?? this.#message(drawing)
      case 'delayed':
        return this.#delayed.shift() ?? this.#message(drawing)
      case 'message':
        return this.#message(drawing)
    }
  }

  #killSwitch(): Control {
    const rail = this.#choices.of('topups', 'withdrawals', 'issuing', 'authorizations')
    return { op: 'set_kill_switch', rail, on: this.#choices.percent(30) }
  }

  /** Mostly what is due; the sandbox can also expire a hold early. */
  #expiry({ account, state }: DrawContext, due: readonly string[]): Command {
    const open = state.rows.filter(({ type }) => type === 'authorization')
    const message = this.#choices.pick(due) ?? this.#choices.pick(open)?.message ?? 'none'
    const is_early = this.#choices.percent(60)
    return { op: 'expire_authorization', account, message, is_early }
  }

  #booking({ account, state }: DrawContext): Command {
    const waiting = this.#choices.pick([...state.awaiting])
    const [message, advice] = waiting ?? ['none', undefined]
    const micros = advice?.charge.micros ?? BigInt(1 + this.#choices.below(5_000)) * 10_000n
    return { op: 'book_clearing', account, message, micros }
  }

  /** The same message again, or another one under the same identity. */
  #repeat(): CardMessage | null {
    const earlier = this.#choices.pick(this.#sent.slice(-20))
    if (earlier === undefined) return null
    if (earlier.op === 'reverse' || this.#choices.percent(85)) return earlier
    return { ...earlier, charge: { ...earlier.charge, minor: earlier.charge.minor + 1n } }
  }

  /** Sometimes a later message, or its reversal, overtakes it. */
  #message(drawing: DrawContext): CardMessage {
    const message = drawMessage(drawing)
    if (!isDelayable(message) || !this.#choices.percent(8)) return message
    this.#delayed.push(message)
    if (this.#choices.percent(40)) return drawMessage(drawing)
    const { account, card, rrn } = message
    return {
      op: 'reverse',
      account,
      card,
      message: this.#name('m'),
      rrn,
      original: message.message,
      replacement: null,
    }
  }

  #name(prefix: string): string {
    this.#names += 1
    return `${prefix}${this.#names}`
  }

  #step(command: Command | Control): Step {
    const isMessage = isEngineCommand(command)
    const joins = isMessage && this.#is_open && isJoinable(command) && this.#choices.percent(40)
    if (!joins) {
      this.#batch += 1
      this.#now = nextTime(this.#choices, this.#now)
    }
    this.#is_open = isMessage
    if (isMessage && command.op !== 'expire_authorization' && command.op !== 'book_clearing') {
      this.#sent.push(command)
    }
    return { at: this.#now, batch: this.#batch, command }
  }
}

/** An approval code or an id is known only after the batch that made it. */
const isJoinable = (command: Command): boolean =>
  command.op !== 'expire_authorization' &&
  command.op !== 'book_clearing' &&
  !('code_of' in command && command.code_of !== undefined)
