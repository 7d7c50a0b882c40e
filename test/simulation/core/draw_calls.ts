import { CENT, type Micros, USD } from '#test/simulation/model/amounts.ts'
import type {
  Actor,
  Command,
  Limits,
  MerchantLock,
  Rules,
} from '#test/simulation/model/commands.ts'
import type { Account, SpendLimits } from '#test/simulation/model/state.ts'
import type { Choices } from './choices.ts'

/** The context of a draw: the choices, the time, and the state that the model expects. */
export type DrawContext = {
  choices: Choices
  now: number
  account: string
  state: Account
  limits: SpendLimits
  /** A new name. */
  name(prefix: string): string
}

/** Two merchants of one name, one of them sometimes without its ID. */
export const MERCHANT_NAMES: [MerchantLock, ...MerchantLock[]] = [
  { name: 'Shop', id: 'shop' },
  { name: 'Shop', id: 'shop' },
  { name: 'Shop', id: 'other' },
  { name: 'Shop', id: null },
  { name: 'Cafe', id: null },
  { name: 'Fuel', id: 'fuel' },
]

type CallName = keyof typeof draws

let call_weights: Record<CallName, number> | null = null

/** A call of the owner or of an operator, or news from the chain. */
export function drawCall(drawing: DrawContext): Command {
  call_weights ??= Object.fromEntries(
    Object.entries(draws).map(([name, { weight }]) => [name, weight]),
  ) as Record<CallName, number>
  return draws[drawing.choices.weighted(call_weights)].draw(drawing)
}

type Draw = { weight: number; draw(drawing: DrawContext): Command }

const anyCard = ({ choices, state }: DrawContext): string =>
  choices.pick([...state.cards.keys()]) ?? 'ghost'

const dollars = ({ choices }: DrawContext, most: number): Micros =>
  BigInt(1 + choices.below(most * 100)) * CENT

const drawActor = ({ choices }: DrawContext): Actor =>
  choices.of('owner', 'owner', 'agent', 'admin')

const draws = {
  issue_card: {
    weight: 4,
    draw: (drawing) => ({
      op: 'issue_card',
      account: drawing.account,
      card: drawing.name('card'),
      ...(drawing.choices.percent(50) && { load: dollars(drawing, 80) }),
      ...(drawing.choices.percent(30) && { limits: drawLimits(drawing) }),
      ...(drawing.choices.percent(10) && { expires: monthOf(drawing.now) }),
      ...drawUsage(drawing),
    }),
  },
  load_card: {
    weight: 14,
    draw: (drawing) => {
      const { choices, account, state } = drawing
      const all = (state.balance / CENT) * CENT
      const amount = choices.percent(80) ? dollars(drawing, 60) : choices.of(all, all + CENT)
      return { op: 'load_card', account, card: anyCard(drawing), amount: amount || CENT }
    },
  },
  unload_card: {
    weight: 4,
    draw: (drawing) => ({
      op: 'unload_card',
      account: drawing.account,
      card: anyCard(drawing),
      ...(drawing.choices.percent(60) && { amount: dollars(drawing, 30) }),
    }),
  },
  freeze_card: {
    weight: 2,
    draw: (drawing) => {
      const fields = { account: drawing.account, card: anyCard(drawing), by: drawActor(drawing) }
      return { op: 'freeze_card', ...fields }
    },
  },
  unfreeze_card: {
    weight: 5,
    draw: (drawing) => {
      const fields = { account: drawing.account, card: anyCard(drawing), by: drawActor(drawing) }
      return { op: 'unfreeze_card', ...fields }
    },
  },
  cancel_card: {
    weight: 1,
    draw: (drawing) => {
      const fields = { account: drawing.account, card: anyCard(drawing), by: drawActor(drawing) }
      return { op: 'cancel_card', ...fields }
    },
  },
  replace_card: {
    weight: 2,
    draw: (drawing) => ({
      op: 'replace_card',
      account: drawing.account,
      card: anyCard(drawing),
      replacement: drawing.name('card'),
    }),
  },
  set_card_limits: {
    weight: 5,
    draw: (drawing) => ({
      op: 'set_card_limits',
      account: drawing.account,
      card: anyCard(drawing),
      limits: drawLimits(drawing),
    }),
  },
  set_mcc_rules: {
    weight: 2,
    draw: (drawing) => ({
      op: 'set_mcc_rules',
      account: drawing.account,
      card: anyCard(drawing),
      rules: drawRules(drawing, ['5732', '5411-5812', '7995']),
    }),
  },
  set_card_geo: {
    weight: 2,
    draw: (drawing) => ({
      op: 'set_card_geo',
      account: drawing.account,
      card: anyCard(drawing),
      rules: drawRules(drawing, ['US', 'DE', 'RU']),
    }),
  },
  suspend_account: {
    weight: 1,
    draw: ({ account, state }) =>
      state.is_suspended
        ? { op: 'reinstate_account', account }
        : { op: 'suspend_account', account },
  },
  reinstate_account: {
    weight: 2,
    draw: ({ account }) => ({ op: 'reinstate_account', account }),
  },
  create_topup: {
    weight: 3,
    draw: (drawing) => ({
      op: 'create_topup',
      account: drawing.account,
      topup: drawing.name('t'),
      amount: drawing.choices.of(4n, 5n, 20n, 50n) * USD,
    }),
  },
  close_topup: {
    weight: 2,
    draw: ({ choices, account, state }) => {
      const topup = choices.pick([...state.topups.keys()]) ?? 'none'
      return { op: choices.of('cancel_topup', 'expire_topup'), account, topup }
    },
  },
  see_transfer: {
    weight: 6,
    draw: (drawing) => {
      const { choices, account, state, now } = drawing
      const [topup, { amount: asked = USD } = {}] = choices.pick([...state.topups]) ?? ['none']
      const amount = choices.of(asked, BigInt(1 + choices.below(90_000_000)), 400_000n)
      const at = Math.floor(now / 1_000) * 1_000
      return { op: 'see_transfer', account, topup, transfer: drawing.name('x'), amount, at }
    },
  },
  follow_transfer: {
    weight: 9,
    draw: ({ choices, account, state }) => {
      const transfers = [...state.topups].flatMap(([topup, { transfers: all }]) =>
        [...all].map(([transfer, { state: now_in }]) => ({ topup, transfer, now_in })),
      )
      const pending = transfers.filter(({ now_in }) => now_in === 'pending')
      const one = choices.pick(choices.percent(80) ? pending : transfers)
      const { topup, transfer } = one ?? { topup: 'none', transfer: 'none' }
      const op = choices.weighted({ settle_transfer: 7, lose_transfer: 2, release_transfer: 2 })
      const blocked = op === 'settle_transfer' && choices.percent(8) ? { is_blocked: true } : {}
      return { op, account, topup, transfer, ...blocked }
    },
  },
  withdraw: {
    weight: 4,
    draw: (drawing) => {
      const { choices, account, state } = drawing
      const amount = choices.of(10n * USD, 10n * USD - 1n, state.balance, dollars(drawing, 90))
      return { op: 'withdraw', account, withdrawal: drawing.name('w'), amount }
    },
  },
  advance_withdrawal: {
    weight: 4,
    draw: ({ choices, account, state }) => ({
      op: choices.of('broadcast_withdrawal', 'complete_withdrawal', 'fail_withdrawal'),
      account,
      withdrawal: choices.pick([...state.withdrawals.keys()]) ?? 'none',
    }),
  },
  file_dispute: {
    weight: 6,
    draw: (drawing) => {
      const { choices, account, state } = drawing
      const captures = state.rows.filter(({ type }) => type === 'capture')
      const row = choices.pick(choices.percent(90) ? captures : state.rows)
      const fields = { account, dispute: drawing.name('d'), capture: row?.message ?? 'none' }
      const amount = choices.of(row?.captured ?? USD, dollars(drawing, 20))
      return {
        op: 'file_dispute',
        ...fields,
        ...(choices.percent(50) && { amount: (amount / CENT) * CENT || CENT }),
      }
    },
  },
  decide_dispute: {
    weight: 4,
    draw: ({ choices, account, state }) => {
      const dispute = choices.pick([...state.disputes.keys()]) ?? 'none'
      if (choices.percent(25)) return { op: 'answer_dispute', account, dispute }
      return { op: 'close_dispute', account, dispute, outcome: choices.of('won', 'lost') }
    },
  },
  open_challenge: {
    weight: 2,
    draw: (drawing) => ({
      op: 'open_challenge',
      account: drawing.account,
      card: anyCard(drawing),
      challenge: drawing.name('c'),
      merchant: { name: 'Shop', id: 'shop' },
      charge: { minor: BigInt(drawing.choices.below(9_000)), currency: 'USD' },
    }),
  },
  decide_challenge: {
    weight: 3,
    draw: ({ choices, account, state }) => ({
      op: 'decide_challenge',
      account,
      challenge: choices.pick([...state.challenges.keys()]) ?? 'none',
      decision: choices.of('approved', 'approved', 'declined', 'expired'),
    }),
  },
} as const satisfies Record<string, Draw>

const HOUR_MS = 3_600_000

/** Any usage; a lock is sometimes refused, because the card is not for one merchant. */
function drawUsage({ choices, now }: DrawContext) {
  const usage = choices.weighted({ reusable: 4, single_use: 4, merchant_locked: 4 })
  const isLocked = choices.percent(usage === 'merchant_locked' ? 40 : 3)
  const ahead = choices.of(0.5, 1, 1, 1, 2, 30, 24 * 365 * 5 + 24 * 2)
  return {
    ...(usage !== 'reusable' && { usage }),
    ...(isLocked && { lock: { ...choices.of(...MERCHANT_NAMES) } }),
    ...(choices.percent(20) && { valid_until: now + Math.round(ahead * HOUR_MS) }),
  }
}

const monthOf = (now: number): string => new Date(now).toISOString().slice(0, 7)

/** Some of the three: none, zero, a few dollars, or the most that the programme allows. */
function drawLimits(drawing: DrawContext): Partial<Limits> {
  const { choices, limits } = drawing
  const draw = (most: Micros) =>
    choices.of(null, null, 0n, dollars(drawing, 90), dollars(drawing, 200), most, most + CENT)
  return {
    ...(choices.percent(50) && { per_transaction: draw(limits.per_transaction_max) }),
    ...(choices.percent(50) && { daily: draw(limits.daily_max) }),
    ...(choices.percent(50) && { monthly: draw(limits.monthly_max) }),
  }
}

function drawRules({ choices }: DrawContext, entries: readonly string[]): Partial<Rules> {
  const draw = () =>
    choices.of(
      null,
      null,
      [],
      entries.filter(() => choices.percent(50)),
    )
  return {
    ...(choices.percent(70) && { allow: draw() }),
    ...(choices.percent(70) && { deny: draw() }),
  }
}
