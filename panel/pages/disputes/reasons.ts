import type { Dispute } from '#contract/disputes.ts'

/** Dispute reasons in the first person, as the cardholder would say them. */
export const reason_labels: Readonly<Record<Dispute['reason'], string>> = {
  fraudulent: 'I didn’t make this purchase',
  duplicate: 'I was charged twice',
  not_received: 'I didn’t receive it',
  not_as_described: 'It wasn’t as described',
  cancelled: 'I canceled it',
  no_valid_authorization: 'I didn’t authorize this charge',
  incorrect_amount: 'The amount is wrong',
  refund_not_processed: 'I didn’t get a promised refund',
  other: 'Other',
}
