import type { Dispute } from '#contract/disputes.ts'

/** Each reason as somebody would say it. */
export const reason_words: Readonly<Record<Dispute['reason'], string>> = {
  fraudulent: 'I did not make this purchase',
  duplicate: 'I was charged twice',
  not_received: 'It never came',
  not_as_described: 'It is not what was described',
  cancelled: 'I had cancelled it',
  no_valid_authorization: 'It was charged without an approval',
  incorrect_amount: 'The amount is wrong',
  refund_not_processed: 'A promised refund did not come',
  other: 'Something else',
}
