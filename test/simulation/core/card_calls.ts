import { Problem } from '#contract/problem.ts'
import {
  requireNotCancelled,
  requireNotFrozenByAdmin,
  requireUnfreezable,
} from '#domain/cards/card.ts'
import { parseUsage, usageOf } from '#domain/cards/card_usage.ts'
import { parseLimits, requireLoadAmount } from '#domain/cards/limits.ts'
import { cardPurse, treasury } from '#domain/ledger/purse.ts'
import { usdFromMicros } from '#kernel/money.ts'
import type { Limits, Outcome, Rules } from '#test/simulation/model/commands.ts'
import { type CoreCard, findPurse, lockPurse, newCoreCard } from './account_rows.ts'
import {
  type CallContext,
  type Calls,
  type CommandOf,
  moveMoney,
  notFound,
  ok,
  requireActive,
  requireRail,
} from './call_context.ts'

type CardOp =
  | 'create_account'
  | 'issue_card'
  | 'load_card'
  | 'unload_card'
  | 'freeze_card'
  | 'unfreeze_card'
  | 'cancel_card'
  | 'replace_card'
  | 'set_card_limits'
  | 'set_mcc_rules'
  | 'set_card_geo'
  | 'suspend_account'
  | 'reinstate_account'
  | 'open_challenge'
  | 'decide_challenge'

function cardOf({ rows }: CallContext, name: string): CoreCard {
  const card = rows.cards.get(name)
  if (card === undefined) throw notFound()
  return card
}

const balanceOf = ({ rows }: CallContext, card: CoreCard): bigint =>
  findPurse(rows, cardPurse(card.id))?.balance_micros ?? 0n

const load = (context: CallContext, card: CoreCard, amount_micros: bigint) => {
  const step = { movement: 'card_loaded', from: treasury, to: cardPurse(card.id) } as const
  return moveMoney(context, { amount_micros, ...step })
}

const unload = (context: CallContext, card: CoreCard, amount_micros: bigint) => {
  const step = { movement: 'card_unloaded', from: cardPurse(card.id), to: treasury } as const
  return moveMoney(context, { amount_micros, ...step })
}

export const card_calls: Calls<CardOp> = {
  create_account: () => ok(),
  issue_card: async (context, command) => {
    const { core, rows, now } = context
    const { spend_limits } = core.settings
    requireActive(context)
    requireRail(context, 'issuing')
    const limits = parseLimits(limitsInput(command.limits ?? {}), spend_limits)
    const usage = parseUsage(usageInput(command), now)
    const { load: amount_micros = 0n, mcc, geo } = command
    if (amount_micros > 0n) {
      requireLoadAmount('load_usd', { amount_micros, on_card_micros: 0n }, spend_limits)
    }
    const [year, month] = (command.expires ?? '2099-12').split('-').map(Number)
    const card = newCoreCard(rows.id, {
      name: command.card,
      now,
      ...limits,
      exp_year: year ?? 0,
      exp_month: month ?? 0,
      mcc_allow: mutable(mcc?.allow),
      mcc_deny: mutable(mcc?.deny),
      geo_allow: mutable(geo?.allow),
      geo_deny: mutable(geo?.deny),
      ...usage,
    })
    if (amount_micros > 0n) await load(context, card, amount_micros)
    rows.cards.set(command.card, card)
    return ok(amount_micros)
  },
  load_card: async (context, { card: name, amount }) => {
    requireActive(context)
    const card = cardOf(context, name)
    requireNotCancelled(card)
    const purse = findPurse(context.rows, cardPurse(card.id))
    const on_card_micros = (purse?.balance_micros ?? 0n) + (purse?.held_micros ?? 0n)
    const { spend_limits } = context.core.settings
    requireLoadAmount('amount_usd', { amount_micros: amount, on_card_micros }, spend_limits)
    await load(context, card, amount)
    return ok(amount)
  },
  unload_card: async (context, { card: name, amount }) => {
    requireActive(context)
    const card = cardOf(context, name)
    const amount_micros = amount ?? balanceOf(context, card)
    if (amount_micros === 0n) throw new Problem('insufficient_card_balance', 'Empty.')
    await unload(context, card, amount_micros)
    return ok(amount_micros)
  },
  freeze_card: (context, { card: name, by = 'owner' }) => {
    if (by !== 'admin') requireActive(context)
    const card = cardOf(context, name)
    requireNotCancelled(card)
    const isUnchanged = by === 'admin' ? card.frozen_by === 'admin' : card.status === 'frozen'
    if (!isUnchanged) Object.assign(card, { status: 'frozen', frozen_by: by })
    return ok()
  },
  unfreeze_card: (context, { card: name, by = 'owner' }) => {
    if (by !== 'admin') requireActive(context)
    const card = cardOf(context, name)
    requireUnfreezable(by === 'admin' ? { ...card, frozen_by: null } : card)
    Object.assign(card, { status: 'active', frozen_by: null })
    return ok()
  },
  cancel_card: async (context, { card: name, by = 'owner' }) => {
    if (by !== 'admin') requireActive(context)
    const card = cardOf(context, name)
    const amount_micros = balanceOf(context, card)
    if (card.status === 'cancelled') return ok()
    if (amount_micros > 0n) await unload(context, card, amount_micros)
    Object.assign(card, { status: 'cancelled', cancel_reason: 'requested' })
    return ok()
  },
  replace_card: async (context, { card: name, replacement, expires }) => {
    requireActive(context)
    requireRail(context, 'issuing')
    const old = cardOf(context, name)
    requireNotCancelled(old)
    requireNotFrozenByAdmin(old)
    await replace(context, old, { replacement, expires })
    return ok()
  },
  set_card_limits: (context, { card: name, limits }) => {
    requireActive(context)
    const card = cardOf(context, name)
    requireNotCancelled(card)
    Object.assign(card, parseLimits(limitsInput(limits), context.core.settings.spend_limits))
    return ok()
  },
  set_mcc_rules: (context, { card: name, rules }) => setRules(context, name, { mcc: rules }),
  set_card_geo: (context, { card: name, rules }) => setRules(context, name, { geo: rules }),
  suspend_account: ({ rows }) => {
    rows.is_suspended = true
    return ok()
  },
  reinstate_account: ({ rows }) => {
    rows.is_suspended = false
    return ok()
  },
  open_challenge: ({ rows }, { challenge, card, charge, merchant }) => {
    rows.challenges.set(challenge, {
      account_id: rows.id,
      id: challenge,
      card_id: rows.cards.get(card)?.id ?? `card_${rows.id}_${card}`,
      status: 'pending',
      amount_minor: charge.minor,
      currency: charge.currency ?? '',
      merchant_name: merchant.name,
      merchant_id: merchant.id,
      decided_at: null,
      used_by: null,
    })
    return ok()
  },
  decide_challenge: ({ rows, now }, { challenge, decision }) => {
    const found = rows.challenges.get(challenge)
    if (found?.status !== 'pending') throw notFound()
    Object.assign(found, { status: decision, decided_at: now })
    return ok()
  },
}

const mutable = (list: readonly string[] | null | undefined): string[] | null =>
  list === null || list === undefined ? null : [...list]

const usageInput = ({ usage, lock, valid_until }: CommandOf<'issue_card'>) => ({
  ...(usage !== undefined && { usage }),
  ...(lock !== undefined && { merchant_lock: lock }),
  ...(valid_until !== undefined && { valid_until: new Date(valid_until).toISOString() }),
})

function limitsInput(limits: Partial<Limits>) {
  const usd = (micros: bigint | null) => (micros === null ? null : usdFromMicros(micros))
  return {
    ...(limits.per_transaction !== undefined && {
      per_transaction_usd: usd(limits.per_transaction),
    }),
    ...(limits.daily !== undefined && { daily_usd: usd(limits.daily) }),
    ...(limits.monthly !== undefined && { monthly_usd: usd(limits.monthly) }),
  }
}

type RulesByKind = Partial<Record<'mcc' | 'geo', Partial<Rules>>>

function setRules(context: CallContext, name: string, rules_of: RulesByKind): Outcome {
  requireActive(context)
  const card = cardOf(context, name)
  requireNotCancelled(card)
  for (const [kind, rules] of Object.entries(rules_of)) {
    if (rules.allow !== undefined) Object.assign(card, { [`${kind}_allow`]: rules.allow })
    if (rules.deny !== undefined) Object.assign(card, { [`${kind}_deny`]: rules.deny })
  }
  return ok()
}

type Replacement = { replacement: string; expires: string | undefined }

async function replace(
  context: CallContext,
  old: CoreCard,
  { replacement, expires }: Replacement,
): Promise<void> {
  const { rows, now } = context
  const [year, month] = expires?.split('-').map(Number) ?? [old.exp_year, old.exp_month]
  const card = newCoreCard(rows.id, {
    per_transaction_micros: old.per_transaction_micros,
    daily_micros: old.daily_micros,
    monthly_micros: old.monthly_micros,
    mcc_allow: old.mcc_allow,
    mcc_deny: old.mcc_deny,
    geo_allow: old.geo_allow,
    geo_deny: old.geo_deny,
    replaces: old.id,
    ...usageOf(old),
    name: replacement,
    now,
    exp_year: year ?? 0,
    exp_month: month ?? 0,
  })
  const spent = findPurse(rows, cardPurse(old.id))
  if (spent !== null) {
    const { spent_day, day_spent_micros, month_spent_micros } = spent
    const purse = lockPurse(rows, cardPurse(card.id))
    Object.assign(purse, { spent_day, day_spent_micros, month_spent_micros })
  }
  const amount_micros = balanceOf(context, old)
  if (amount_micros > 0n) {
    const [from, to] = [cardPurse(old.id), cardPurse(card.id)]
    await moveMoney(context, { movement: 'card_replaced', from, to, amount_micros })
  }
  rows.cards.set(replacement, card)
  Object.assign(old, { status: 'cancelled', cancel_reason: 'replaced', replaced_by: card.id })
}
