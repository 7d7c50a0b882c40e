import type { Context, Handler } from '#domain/context/context.ts'
import { replaceCardInGrants } from '#domain/credentials/grant_store.ts'
import { copySpending } from '#domain/ledger/ledger_store.ts'
import { move } from '#domain/ledger/move.ts'
import { cardPurse } from '#domain/ledger/purse.ts'
import { requireRailOpen } from '#domain/risk/kill_switch.ts'
import {
  type CardRow,
  cardEvent,
  cardResource,
  describeCard,
  requireNotCancelled,
  requireNotFrozenByAdmin,
  shippingAfterCancel,
} from './card.ts'
import { changeCard, findFunds, lockCardOf, showCard } from './card_store.ts'
import { usageOf } from './card_usage.ts'
import { createCard, initialWallet, replacementBin } from './new_card.ts'

export const replaceCard: Handler<'replace_card'> = async (context, { id }) => {
  const { tx, caller } = context
  await requireRailOpen(tx, 'issuing')
  const old = await lockCardOf(tx, caller.account_id, id)
  requireNotCancelled(old)
  requireNotFrozenByAdmin(old)

  const card = await createReplacement(context, old)
  await moveToReplacement(context, old, card)
  await recordReplacement(context, old, card)
  return showCard(tx, card, context.now)
}

/** Always virtual, because it must work immediately. */
function createReplacement(context: Context, old: CardRow): Promise<CardRow> {
  const { apple_pay, google_pay } = old.wallet
  const wallets = [
    ...(apple_pay === 'unsupported' ? [] : (['apple_pay'] as const)),
    ...(google_pay === 'unsupported' ? [] : (['google_pay'] as const)),
  ]
  return createCard(context, replacementBin(context.settings.bins, old.bin), {
    client_id: old.client_id,
    type: 'virtual',
    name: old.name,
    wallet: initialWallet('virtual', wallets),
    shipping: null,
    replaces: old.id,
    metadata: old.metadata,
    per_transaction_micros: old.per_transaction_micros,
    daily_micros: old.daily_micros,
    monthly_micros: old.monthly_micros,
    mcc_allow: old.mcc_allow,
    mcc_deny: old.mcc_deny,
    geo_allow: old.geo_allow,
    geo_deny: old.geo_deny,
    ...usageOf(old),
  })
}

/** Moves the available balance, the usage of limits and the grants. Holds stay on the old card. */
async function moveToReplacement(
  { tx, now, newId, credentialsChanged }: Context,
  old: CardRow,
  card: CardRow,
): Promise<void> {
  const { account_id } = old
  await copySpending(tx, { account_id, from: old.id, to: card.id })
  const changed = await replaceCardInGrants(tx, account_id, { from: old.id, to: card.id, now })
  if (changed > 0) credentialsChanged(account_id)
  const { balance_micros } = await findFunds(tx, old, now)
  if (balance_micros > 0n) {
    const replaced = {
      movement: 'card_replaced',
      account_id,
      from: cardPurse(old.id),
      to: cardPurse(card.id),
      amount_micros: balance_micros,
      reference: cardResource(card),
      description: `Moved from ${describeCard(old)} to ${describeCard(card)}.`,
    } as const
    await move(tx, replaced, { now, newId })
  }
  await changeCard(tx, old, {
    change: {
      status: 'cancelled',
      cancel_reason: 'replaced',
      cancelled_at: now,
      replaced_by: card.id,
      shipping: shippingAfterCancel(old.shipping),
    },
    now,
  })
}

async function recordReplacement(context: Context, old: CardRow, card: CardRow): Promise<void> {
  const { tx, now, emit, audit } = context
  emit(
    card.account_id,
    cardEvent(card, await showCard(tx, card, now), {
      type: 'card.issued',
      message: `Your ${describeCard(card)} was issued to replace your ${describeCard(old)}.`,
    }),
  )
  emit(
    old.account_id,
    cardEvent(old, await showCard(tx, old, now), {
      type: 'card.cancelled',
      message: `Your ${describeCard(old)} was replaced by your ${describeCard(card)}.`,
      previous_attributes: { status: old.status },
    }),
  )
  audit(old.account_id, { action: 'replace_card', resource: cardResource(old) })
}
