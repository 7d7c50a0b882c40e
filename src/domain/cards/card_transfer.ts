import type { CardTransfer } from '#contract/cards.ts'
import { type MovementResult, move } from '#domain/ledger/move.ts'
import type { Stamp } from '#domain/ledger/post.ts'
import { cardPurse, treasury } from '#domain/ledger/purse.ts'
import { assert } from '#kernel/assert.ts'
import { formatUsd, type Micros, usdFromMicros } from '#kernel/money.ts'
import type { Tx } from '#platform/postgres/db.ts'
import { type CardRow, describeCard } from './card.ts'
import { showCard } from './card_store.ts'

/** A transfer between the treasury and a card, already posted. */
export type PostedTransfer = {
  id: string
  type: CardTransfer['type']
  card: CardRow
  movement: MovementResult
}

type TransferContext = Stamp & { tx: Tx }

/** The card must be locked. */
export async function transferToCard(
  { tx, now, newId }: TransferContext,
  card: CardRow,
  amount_micros: Micros,
): Promise<PostedTransfer> {
  const id = newId('ctr', now)
  const movement = await move(
    tx,
    {
      movement: 'card_loaded',
      account_id: card.account_id,
      from: treasury,
      to: cardPurse(card.id),
      amount_micros,
      reference: { type: 'card_transfer', id },
      description: `${formatUsd(amount_micros)} loaded onto ${describeCard(card)}.`,
    },
    { now, newId },
  )
  return { id, type: 'load', card, movement }
}

/** The card must be locked. */
export async function transferFromCard(
  { tx, now, newId }: TransferContext,
  card: CardRow,
  amount_micros: Micros,
): Promise<PostedTransfer> {
  const id = newId('ctr', now)
  const movement = await move(
    tx,
    {
      movement: 'card_unloaded',
      account_id: card.account_id,
      from: cardPurse(card.id),
      to: treasury,
      amount_micros,
      reference: { type: 'card_transfer', id },
      description: `${formatUsd(amount_micros)} unloaded from ${describeCard(card)}.`,
    },
    { now, newId },
  )
  return { id, type: 'unload', card, movement }
}

export async function cardTransferView(
  { tx, now }: TransferContext,
  { id, type, card, movement }: PostedTransfer,
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
