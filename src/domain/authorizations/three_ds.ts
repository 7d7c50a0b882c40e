import type { TransactionRow } from '#domain/transactions/transaction.ts'
import type { BatchState } from './batch_state.ts'
import type { CardFacts, ChallengeFacts } from './facts.ts'
import type { CardRequest } from './request.ts'

/** The contract's: an approval serves for a day. */
const APPROVAL_LIFETIME_MS = 24 * 3_600_000
/** Card networks carry no more of a merchant's name. */
const NETWORK_NAME_LENGTH = 25

/**
 * The challenge that decides about a message. An approval counts for one purchase of the same card,
 * merchant, currency and at most its amount, within a day; any other message that names it is
 * decided as if it named none. A challenge of this card that was not approved always counts.
 */
export function challengeFor(
  { challenges, now }: Pick<BatchState, 'challenges' | 'now'>,
  card: Pick<CardFacts, 'id'>,
  request: CardRequest,
): ChallengeFacts | null {
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

function isSamePurchase(challenge: ChallengeFacts, { charge, merchant }: CardRequest): boolean {
  return (
    challenge.currency === charge.currency &&
    challenge.amount_minor >= charge.minor &&
    isSameMerchant(challenge, merchant)
  )
}

function isSameMerchant(challenge: ChallengeFacts, merchant: CardRequest['merchant']): boolean {
  if (challenge.merchant_id !== null && merchant.merchant_id !== null) {
    return challenge.merchant_id === merchant.merchant_id
  }
  return nameOnNetwork(challenge.merchant_name) === nameOnNetwork(merchant.merchant_name)
}

const nameOnNetwork = (name: string): string =>
  name.slice(0, NETWORK_NAME_LENGTH).trim().replace(/\s+/g, ' ').toLowerCase()

/** Only a payment online, or one that names a challenge, has a result of 3-D Secure. */
export function threeDsResult(
  challenge: ChallengeFacts | null,
  { challenge_id, entry }: CardRequest,
): TransactionRow['three_ds_result'] {
  if (challenge === null) {
    return challenge_id !== null || entry.entry_mode === 'ecommerce' ? 'none' : null
  }
  const { status } = challenge
  return status === 'approved' || status === 'declined' ? status : 'timeout'
}
