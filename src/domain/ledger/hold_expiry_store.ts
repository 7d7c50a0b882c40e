import { texts, timestamps } from '#platform/postgres/columns.ts'
import type { Tx } from '#platform/postgres/db.ts'

/**
 * When the open authorizations of each card begin to expire, so that those that are due are found
 * without an index that every capture would have to change.
 */

type CardKey = { account_id: string; card_id: string }

export type ExpiringCard = CardKey & { holds_expire_at: Date }

/** The cards of which an authorization may have expired, the earliest first. */
export function findExpiringCards(
  tx: Tx,
  now: Date,
  { after, limit }: { after: ExpiringCard | undefined; limit: number },
): Promise<ExpiringCard[]> {
  return tx.rows<ExpiringCard>(
    `select account_id, owner_id as card_id, holds_expire_at from purses
      where holds_expire_at <= $1 and (holds_expire_at, owner_id) > ($2, $3)
      order by holds_expire_at, owner_id limit $4`,
    [now, after?.holds_expire_at ?? '-infinity', after?.card_id ?? '', limit],
  )
}

/** Their cards must be locked, so that no authorization is opened meanwhile. */
export async function setHoldsExpireAt(
  tx: Tx,
  cards: readonly (CardKey & { expires_at: Date | null })[],
): Promise<void> {
  await tx.run(
    `update purses p set holds_expire_at = w.expires_at
       from unnest($1::text[], $2::text[], $3::timestamptz[])
              as w (account_id, card_id, expires_at)
      where p.account_id = w.account_id and p.kind = 'card' and p.owner_id = w.card_id`,
    [
      texts(cards, ({ account_id }) => account_id),
      texts(cards, ({ card_id }) => card_id),
      timestamps(cards, ({ expires_at }) => expires_at),
    ],
  )
}
