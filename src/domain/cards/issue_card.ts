import type { Card } from '#contract/cards.ts'
import type { InputOfName } from '#contract/operations.ts'
import { Problem } from '#contract/problem.ts'
import { lockAccount } from '#domain/accounts/account_store.ts'
import { type Charge, chargeBudget, recordCharge } from '#domain/budgets/charge_budget.ts'
import { clientIdOf } from '#domain/context/client_id.ts'
import type { Context, Handler } from '#domain/context/context.ts'
import { requireRailOpen } from '#domain/risk/kill_switch.ts'
import { spendLimitsOf } from '#domain/risk/spend_limits.ts'
import { formatUsd, type Micros, microsFromUsd } from '#kernel/money.ts'
import { nameInSentence } from '#kernel/name_in_sentence.ts'
import type { SpendLimits } from '#settings/spend_limit_settings.ts'
import { type CardRow, cardEvent, cardResource, describeCard } from './card.ts'
import { countLiveCards, showCard } from './card_store.ts'
import { transferToCard } from './card_transfer.ts'
import { parseUsage } from './card_usage.ts'
import { requireGeoRules, requireMccRules } from './controls.ts'
import { parseLimits, requireLoadAmount } from './limits.ts'
import { type CardDraft, createCard, initialWallet, parseShipping, requireBin } from './new_card.ts'

export const issueCard: Handler<'issue_card'> = async (context, input) => {
  const { tx, caller, settings, now } = context
  await requireRailOpen(tx, 'issuing')
  const spend_limits = await spendLimitsOf(tx, caller.account_id, settings)
  const profile = requireBin(settings.bins, input)
  const draft = parseDraft(input, { spend_limits, now })
  const load_micros = parseInitialLoad(input.load_usd, spend_limits)

  // Under the account's lock, two calls cannot both count one free place.
  await lockAccount(tx, caller.account_id)
  await requireBelowCardLimit(context, spend_limits)
  const charge = load_micros > 0n ? await chargeLoad(context, input, load_micros) : null
  const client_id = clientIdOf(caller)
  const card = await createCard(context, profile, { ...draft, client_id })
  if (load_micros > 0n) {
    const { movement } = await transferToCard(context, card, load_micros)
    await recordCharge(context, charge, { movement_id: movement.id, card_id: card.id })
  }

  const view = await showCard(tx, card, now)
  recordIssue(context, card, { view, load_micros })
  return view
}

function parseDraft(
  input: InputOfName<'issue_card'>,
  { spend_limits, now }: { spend_limits: SpendLimits; now: Date },
): Omit<CardDraft, 'client_id'> {
  const { type, name = null, mcc = {}, geo = {}, metadata = {} } = input
  const shipping = parseShipping(input)
  requireMccRules(mcc, 'mcc')
  requireGeoRules(geo, 'geo')
  return {
    type,
    name,
    wallet: initialWallet(type, input.wallet_provision),
    shipping,
    replaces: null,
    metadata,
    per_transaction_micros: null,
    daily_micros: null,
    monthly_micros: null,
    ...parseLimits(input.limits ?? {}, spend_limits, 'limits.'),
    mcc_allow: mcc.allow ?? null,
    mcc_deny: mcc.deny ?? null,
    geo_allow: geo.allow ?? null,
    geo_deny: geo.deny ?? null,
    ...parseUsage(input, now),
  }
}

/** Zero and absent both mean no load. */
function parseInitialLoad(load_usd: number | undefined, spend_limits: SpendLimits): Micros {
  const amount_micros = microsFromUsd(load_usd ?? 0)
  if (amount_micros === 0n) return 0n
  requireLoadAmount('load_usd', { amount_micros, on_card_micros: 0n }, spend_limits)
  return amount_micros
}

function chargeLoad(
  context: Context,
  input: InputOfName<'issue_card'>,
  amount_micros: Micros,
): Promise<Charge> {
  const name = nameInSentence(input.name ?? null)
  const named = name === null ? '' : `, ${name},`
  return chargeBudget(context, {
    operation: 'issue_card',
    input,
    amount_micros,
    card_id: null,
    purpose: `issue a ${input.type} card${named} with ${formatUsd(amount_micros)}`,
  })
}

async function requireBelowCardLimit(
  { tx, caller }: Context,
  { cards_max }: SpendLimits,
): Promise<void> {
  if ((await countLiveCards(tx, caller.account_id)) < cards_max) return
  throw new Problem(
    'cards_limit_reached',
    `You have reached the limit of ${cards_max} cards. Cancel one first.`,
  )
}

function recordIssue(
  { emit, audit }: Context,
  card: CardRow,
  { view, load_micros }: { view: Card; load_micros: Micros },
): void {
  const issued = `Your ${describeCard(card)} was issued.`
  emit(card.account_id, cardEvent(card, view, { type: 'card.issued', message: issued }))
  if (load_micros > 0n) {
    const message = `${formatUsd(load_micros)} loaded onto your ${describeCard(card)}.`
    const loaded = { type: 'card.loaded', message, amount_micros: load_micros } as const
    emit(card.account_id, cardEvent(card, view, loaded))
  }
  audit(card.account_id, { action: 'issue_card', resource: cardResource(card) })
}
