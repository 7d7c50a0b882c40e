import { isSameMerchant } from '#domain/cards/merchant_lock.ts'
import type { TransactionRow } from '#domain/transactions/transaction.ts'
import type { BatchState } from './batch_state.ts'
import type { CardState, ChallengeState } from './card_state.ts'
import type { CardRequest } from './request.ts'

/** From the contract: an approval is valid for a day. */
const APPROVAL_LIFETIME_MS = 24 * 3_600_000

/**
 * The challenge that applies to a message. An approval is valid for a day and for one purchase of
 * the same card, merchant and currency up to its amount; for any other message it is ignored. A
 * challenge of this card that was not approved always applies.
 */
export function challengeFor(
  { challenges, now }: Pick<BatchState, 'challenges' | 'now'>,
  card: Pick<CardState, 'id'>,
  request: CardRequest,
): ChallengeState | null {
  if (request.challenge_id === null) return null
  const challenge = challenges.get(request.challenge_id)
  if (challenge === undefined || challenge.card_id !== card.id) return null
  if (challenge.status !== 'approved') return challenge
  const isUsable =
    challenge.used_by === null &&
    challenge.decided_at !== null &&
    now.getTime() - challenge.decided_at.getTime() <= APPROVAL_LIFETIME_MS
  return isUsable && isSamePurchase(challenge, request) ? challenge : null
}

function isSamePurchase(challenge: ChallengeState, { charge, merchant }: CardRequest): boolean {
  return (
    challenge.currency === charge.currency &&
    challenge.amount_minor >= charge.minor &&
    isSameMerchant(challenge, merchant)
  )
}

/** Only online payments and messages that name a challenge have a 3-D Secure result. */
export function threeDsResult(
  challenge: ChallengeState | null,
  { challenge_id, entry }: CardRequest,
): TransactionRow['three_ds_result'] {
  if (challenge === null) {
    return challenge_id !== null || entry?.entry_mode === 'ecommerce' ? 'none' : null
  }
  const { status } = challenge
  return status === 'approved' || status === 'declined' ? status : 'timeout'
}
