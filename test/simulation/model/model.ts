import { isDeepStrictEqual } from 'node:util'
import { dayOf } from './amounts.ts'
import { applyCommand } from './apply.ts'
import type { Command, Outcome, Rail } from './commands.ts'
import { type Account, default_limits, newAccount, type Programme } from './state.ts'
import { type AccountView, viewOf } from './view.ts'

/**
 * A model of Florin, written from the contract alone. It predicts the response to every command and
 * the balances after it, in whole micro-dollars. The names of accounts, cards, messages and so on
 * are the caller's.
 *
 *     const model = new Model({ now: Date.now() })
 *     model.apply({ op: 'create_account', account: 'ann' })
 *     model.apply({ op: 'issue_card', account: 'ann', card: 'red' })      // [{ result: 'ok', … }]
 *
 *     // A response came: the model must have predicted it. Only the given fields are compared.
 *     model.confirm(command, { result: 'declined', code: 'limit_daily' })
 *     model.confirm(command, (predicted) => predicted.result === 'approved')
 *
 *     // The response was lost: from now on both are possible, until a response or a read decides.
 *     model.applyUnknown(command)
 *     model.observe('ann', { balance: 40n * USD, cards: { red: { held: 0n } } })
 *
 *     // Several calls ran at the same time: any order may be the right one. `null`: lost.
 *     model.confirmTogether([[first, { result: 'ok' }], [second, null]])
 *
 *     model.setTime(Date.now()); model.setKillSwitch('topups', true)
 *     for (const message of model.dueAuthorizations('ann')) …             // seven days are over
 *     model.view('ann')                                           // everything that reads show
 *
 * A Mismatch names the responses or readings that were possible.
 */
export class Model {
  readonly programme: Programme
  /** The possible states of each account; several only after a lost response. */
  readonly #possible = new Map<string, Account[]>()

  constructor({ now, ...settings }: Partial<Programme> & { now: number }) {
    this.programme = { ...default_programme, killed: new Set(), ...settings, now }
  }

  setTime(now: number): void {
    this.programme.now = now
  }

  setKillSwitch(rail: Rail, on: boolean): void {
    if (on) this.programme.killed.add(rail)
    else this.programme.killed.delete(rail)
  }

  /** The possible states of an account. */
  possible(name: string): readonly Account[] {
    return this.#stateOf(name)
  }

  /** Applies a command in every possible state and returns the distinct predictions. */
  apply(command: Command): Outcome[] {
    const predictions: Outcome[] = []
    for (const account of this.#stateOf(command.account)) {
      const outcome = this.#applyTo(account, command)
      if (!predictions.some((known) => isDeepStrictEqual(known, outcome))) predictions.push(outcome)
    }
    return predictions
  }

  /**
   * Applies a command whose response is known; states that predict another one are impossible.
   * `until` is the time of the response: if midnight or the last moment of a card lies between, the
   * call may have run on either side.
   */
  confirm(command: Command, expected: ExpectedOutcome, { until }: { until?: number } = {}): void {
    const { account: name } = command
    const predictions: Outcome[] = []
    const kept: Account[] = []
    for (const state of this.#forked(name, until)) {
      const outcome = this.#applyTo(state.account, command, state.now)
      predictions.push(outcome)
      if (isExpected(outcome, expected)) kept.push(state.account)
    }
    if (kept.length === 0) throw new Mismatch(describe(command), describe(expected), predictions)
    this.#possible.set(name, distinct(kept, this.programme.now))
  }

  /** Applies a command whose response was lost: it may have taken effect or not. */
  applyUnknown(command: Command): void {
    const before = this.#stateOf(command.account)
    const after = before.map((account) => structuredClone(account))
    for (const account of after) this.#applyTo(account, command)
    this.#possible.set(command.account, distinct([...before, ...after], this.programme.now))
  }

  /** Applies commands that ran at the same time. All orders are tried, so give it a few only. */
  confirmTogether(entries: readonly (readonly [Command, ExpectedOutcome | null])[]): void {
    const [first] = entries
    if (first === undefined) return
    const name = first[0].account
    const kept = this.#stateOf(name).flatMap((account) => this.#inAnyOrder(account, entries))
    if (kept.length === 0) {
      const [commands, expected] = [entries.map(([one]) => one), entries.map(([, one]) => one)]
      throw new Mismatch(describe(commands), describe(expected), ['no order of the calls'])
    }
    this.#possible.set(name, distinct(kept, this.programme.now))
  }

  /** Compares a read; states that would show another one are impossible. */
  observe(name: string, reading: Reading): void {
    const states = this.#stateOf(name)
    const kept = states.filter((one) => isPart(reading, viewOf(one, this.programme.now)))
    if (kept.length === 0) {
      const views = states.map((one) => viewOf(one, this.programme.now))
      throw new Mismatch(`reading ${name}`, describe(reading), views)
    }
    this.#possible.set(name, kept)
  }

  /** Everything a read of the account must show; there must be one possibility. */
  view(name: string): AccountView {
    const [account, ...others] = this.#stateOf(name)
    if (account === undefined || others.length > 0) throw new Error(`${name} is not decided`)
    return viewOf(account, this.programme.now)
  }

  /** The messages of authorizations whose hold has passed its seven days. */
  dueAuthorizations(name: string): string[] {
    const due = this.#stateOf(name)
      .flatMap(({ rows }) => rows)
      .filter(({ open, expires_at }) => open > 0n && (expires_at ?? 0) <= this.programme.now)
    return [...new Set(due.map(({ message }) => message))]
  }

  #stateOf(name: string): Account[] {
    const known = this.#possible.get(name)
    if (known !== undefined) return known
    const created = [newAccount(name)]
    this.#possible.set(name, created)
    return created
  }

  #applyTo(account: Account, command: Command, now = this.programme.now): Outcome {
    const programme = now === this.programme.now ? this.programme : { ...this.programme, now }
    return applyCommand({ programme, account }, command)
  }

  #forked(name: string, until = this.programme.now): { account: Account; now: number }[] {
    const { now } = this.programme
    const states = this.#stateOf(name)
    const earlier = states.map((account) => ({ account, now }))
    const isBetween = (at: number | null) => at !== null && now <= at && at <= until
    const isExpiring = states.some(({ cards }) =>
      [...cards.values()].some(({ valid_until }) => isBetween(valid_until)),
    )
    if (dayOf(now) === dayOf(until) && !isExpiring) return earlier
    const later = states.map((account) => ({ account: structuredClone(account), now: until }))
    return [...earlier, ...later]
  }

  #inAnyOrder(
    account: Account,
    entries: readonly (readonly [Command, ExpectedOutcome | null])[],
  ): Account[] {
    if (entries.length === 0) return [account]
    const kept: Account[] = []
    for (const [at, [command, expected]] of entries.entries()) {
      const others = entries.toSpliced(at, 1)
      const next = structuredClone(account)
      const outcome = this.#applyTo(next, command)
      const isPossible = expected === null || isExpected(outcome, expected)
      if (isPossible) kept.push(...this.#inAnyOrder(next, others))
      if (expected === null) kept.push(...this.#inAnyOrder(account, others))
    }
    return distinct(kept, this.programme.now)
  }
}

/** An outcome, or a part of one, or a condition. */
export type ExpectedOutcome = Partial<Outcome> | ((predicted: Outcome) => boolean)

type PartOf<View> = View extends object ? { [Key in keyof View]?: PartOf<View[Key]> } : View

/** Some of the fields that a read showed. */
export type Reading = PartOf<AccountView>

export class Mismatch extends Error {
  constructor(command: string, seen: string, predicted: readonly unknown[]) {
    const lines = predicted.map((one) => `  possible: ${describe(one)}`)
    super(
      [
        `The model did not predict this response.`,
        `  command: ${command}`,
        `  seen: ${seen}`,
        ...lines,
      ].join('\n'),
    )
  }
}

const default_programme: Omit<Programme, 'now' | 'killed'> = {
  limits: default_limits,
  partial_approvals: false,
  topup_window_ms: 3_600_000,
  blocked_countries: [],
  refund_review: null,
}

function isExpected(outcome: Outcome, expected: ExpectedOutcome): boolean {
  return typeof expected === 'function' ? expected(outcome) : isPart(expected, outcome)
}

/** True if every field that `part` has is equal in `whole`. */
function isPart(part: unknown, whole: unknown): boolean {
  if (typeof part !== 'object' || part === null || Array.isArray(part)) {
    return isDeepStrictEqual(part, whole)
  }
  if (typeof whole !== 'object' || whole === null) return false
  return Object.entries(part).every(([key, value]) => {
    return isPart(value, (whole as Record<string, unknown>)[key])
  })
}

export const describe = (value: unknown): string =>
  typeof value === 'function'
    ? 'a condition'
    : JSON.stringify(value, (_key, one: unknown) => (typeof one === 'bigint' ? `${one}` : one))

const POSSIBLE_MAX = 512

/** Drops states that no read and no later response can distinguish. */
function distinct(states: readonly Account[], now: number): Account[] {
  if (states.length < 2) return [...states]
  const by_text = new Map<string, Account>()
  for (const state of states) by_text.set(fingerprintOf(state, now), state)
  if (by_text.size > POSSIBLE_MAX) throw new Error('too many lost responses without a read')
  return [...by_text.values()]
}

function fingerprintOf(account: Account, now: number): string {
  const { answered, early_reversals, awaiting, challenges, agents } = account
  const hidden = [answered, early_reversals, awaiting, challenges, agents].map((one) => [...one])
  const cards = [...account.cards.values()].map((card) => ({
    ...card,
    usage: [...card.usage.days],
  }))
  return describe([viewOf(account, now), cards, hidden])
}
