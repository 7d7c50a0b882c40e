import type { CardTransfer } from '#contract/cards.ts'
import type { Context } from '#domain/context/context.ts'
import { type Moved, move } from '#domain/ledger/post.ts'
import { cardPurse, treasury } from '#domain/ledger/purse.ts'
import { assert } from '#kernel/assert.ts'
import { formatUsd, type Micros, usdFromMicros } from '#kernel/money.ts'
import { type CardRow, nameOf } from './card.ts'
import { showCard } from './card_store.ts'

/** Money between the treasury and a card. The card must be locked. */
export type Transfer = {
  id: string
  type: CardTransfer['type']
  card: CardRow
  movement: Moved
}

type Needs = Pick<Context, 'tx' | 'now' | 'newId'>

export async function loadOnto(
  { tx, now, newId }: Needs,
  card: CardRow,
  amount_micros: Micros,
): Promise<Transfer> {
  const id = newId('ctr')
  const movement = await move(
    tx,
    {
      movement: 'card_loaded',
      account_id: card.account_id,
      from: treasury,
      to: cardPurse(card.id),
      amount_micros,
      reference: { type: 'card_transfer', id },
      description: `${formatUsd(amount_micros)} loaded onto ${nameOf(card)}.`,
    },
    { now, newId },
  )
  return { id, type: 'load', card, movement }
}

export async function unloadFrom(
  { tx, now, newId }: Needs,
  card: CardRow,
  amount_micros: Micros,
): Promise<Transfer> {
  const id = newId('ctr')
  const movement = await move(
    tx,
    {
      movement: 'card_unloaded',
      account_id: card.account_id,
      from: cardPurse(card.id),
      to: treasury,
      amount_micros,
      reference: { type: 'card_transfer', id },
      description: `${formatUsd(amount_micros)} unloaded from ${nameOf(card)}.`,
    },
    { now, newId },
  )
  return { id, type: 'unload', card, movement }
}

export async function cardTransferView(
  { tx, now }: Needs,
  { id, type, card, movement }: Transfer,
): Promise<CardTransfer> {
  const { treasury_micros } = movement
  assert(treasury_micros !== null, 'a transfer touches the treasury')
  return {
    id,
    type,
    card_id: card.id,
    amount_usd: usdFromMicros(movement.amount_micros),
    fee_usd: 0,
    card: await showCard(tx, card, now),
    balance_usd: usdFromMicros(treasury_micros),
    created_at: movement.created_at.toISOString(),
  }
}
