import { insertBareCard } from './issuer.ts'
import type { MoneyRoom } from './money_room.ts'

type PendingClearing = { id: string; account_id: string; card_id: string }

/** Inserts a clearing that waits for an operator directly: 20 USD to review, or 1,500 yen. */
export async function insertPendingClearing(
  room: MoneyRoom,
  waits_for: 'review' | 'conversion',
): Promise<PendingClearing> {
  const { account_id, id: card_id } = await insertBareCard(room)
  const now = room.clock.now()
  const id = room.dependencies.newId('txn', now)
  const isReview = waits_for === 'review'
  await room.db.run(
    `insert into pending_clearings (account_id, id, card_id, kind, amount_minor, currency,
            merchant_name, request, message_identity, waits_for, amount_micros, created_at)
     values ($1, $2, $3, 'refund', $4, $5, 'Corner Books', '{}', $2, $6, $7, $8)`,
    [
      account_id,
      id,
      card_id,
      isReview ? 2_000 : 1_500,
      isReview ? 'USD' : 'JPY',
      waits_for,
      isReview ? 20_000_000 : null,
      now,
    ],
  )
  return { id, account_id, card_id }
}
