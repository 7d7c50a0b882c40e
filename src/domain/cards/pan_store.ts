import { assert } from '#kernel/assert.ts'
import type { Tx } from '#platform/postgres/db.ts'
import type { CardKey } from './card_store.ts'

export async function findSealedPan(tx: Tx, { account_id, id }: CardKey): Promise<string> {
  const [row] = await tx.rows<{ pan_sealed: string }>(
    'select pan_sealed from cards where account_id = $1 and id = $2',
    [account_id, id],
  )
  assert(row !== undefined, 'every card has a number')
  return row.pan_sealed
}

/** Counts of a card's reveals. Exact under the card's lock. */
export type RevealQuota = {
  count: number
  recent_count: number
  oldest_recent_at: Date | null
}

export async function findRevealQuota(
  tx: Tx,
  { account_id, id }: CardKey,
  since: Date,
): Promise<RevealQuota> {
  const [row] = await tx.rows<RevealQuota>(
    `select count(*)::int as count,
            count(*) filter (where revealed_at > $3)::int as recent_count,
            min(revealed_at) filter (where revealed_at > $3) as oldest_recent_at
       from card_reveals where account_id = $1 and card_id = $2`,
    [account_id, id, since],
  )
  assert(row !== undefined, 'a count has a row')
  return row
}

type NewReveal = { id: string; card: CardKey; nonce: string | null; now: Date }

/** Returns false if a card of the account was revealed with the nonce before. */
export async function insertReveal(tx: Tx, { id, card, nonce, now }: NewReveal): Promise<boolean> {
  const inserted = await tx.run(
    `insert into card_reveals (account_id, card_id, id, nonce, revealed_at)
     values ($1, $2, $3, $4, $5)
         on conflict (account_id, nonce) where nonce is not null do nothing`,
    [card.account_id, card.id, id, nonce, now],
  )
  return inserted === 1
}

export type SealedPan = CardKey & { pan_sealed: string }

/** Card numbers sealed under another key, ordered by card and starting after `after`. */
export async function findOutdatedPans(
  tx: Tx,
  { sealed_prefix, after, limit }: { sealed_prefix: string; after: CardKey; limit: number },
): Promise<SealedPan[]> {
  return tx.rows<SealedPan>(
    `select account_id, id, pan_sealed from cards
      where (account_id, id) > ($1, $2) and not starts_with(pan_sealed, $3)
      order by account_id, id limit $4`,
    [after.account_id, after.id, sealed_prefix, limit],
  )
}

/** Does nothing if another node has resealed the number in the meantime. */
export async function resealPan(tx: Tx, card: SealedPan, pan_sealed: string): Promise<void> {
  await tx.run(
    'update cards set pan_sealed = $4 where account_id = $1 and id = $2 and pan_sealed = $3',
    [card.account_id, card.id, card.pan_sealed, pan_sealed],
  )
}

/** For processors, which don't know the account. */
export async function findCardNumber(
  tx: Tx,
  card_id: string,
): Promise<{ pan_hash: string; pan_sealed: string } | null> {
  const [row] = await tx.rows<{ pan_hash: string; pan_sealed: string }>(
    'select pan_hash, pan_sealed from cards where id = $1',
    [card_id],
  )
  return row ?? null
}

export async function findCardByHash(tx: Tx, pan_hash: string): Promise<CardKey | null> {
  const [row] = await tx.rows<CardKey>('select account_id, id from cards where pan_hash = $1', [
    pan_hash,
  ])
  return row ?? null
}
