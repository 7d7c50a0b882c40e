/**
 * Decline codes with the sentence shown to the cardholder. The first eighteen are required by the
 * contract; the others belong to additional checks that it permits.
 */
export const decline_messages = {
  invalid_card: 'This card number does not exist.',
  card_cancelled: 'The card is canceled.',
  card_frozen: 'The card is frozen.',
  card_expired: 'The card has expired.',
  cvv_mismatch: 'The security code was incorrect.',
  country_blocked: 'The card is not allowed in this country.',
  mcc_blocked: 'The card is not allowed for this type of merchant.',
  limit_per_transaction: 'The amount exceeds the per-purchase limit.',
  limit_daily: 'The amount exceeds the remaining daily limit.',
  limit_monthly: 'The amount exceeds the remaining monthly limit.',
  three_ds_failed: 'The purchase was rejected during verification.',
  three_ds_timeout: 'The purchase was not verified in time.',
  insufficient_funds: 'The card balance is too low.',
  issuer_unavailable: 'The purchase could not be processed in time.',
  system_error: 'The purchase could not be processed.',
  do_not_honor: 'The purchase was declined.',

  card_used: 'This single-use card already made its purchase.',
  merchant_blocked: 'The card is locked to another merchant.',

  duplicate_conflict: 'The merchant sent the same purchase again with a different amount.',
  reversed_before_auth: 'The merchant canceled the purchase before it arrived.',
  programme_paused: 'Purchases are temporarily paused.',
  account_suspended: 'The account is suspended.',
  expiry_mismatch: 'The expiration date was incorrect.',
  verification_attempts_exceeded: 'Too many incorrect security codes. Try again tomorrow.',
  pin_not_supported: 'The card has no PIN.',
  transaction_type_not_allowed: 'The card does not support this type of transaction.',
  invalid_amount: 'The amount is not valid.',
  currency_not_supported: 'The merchant did not send the amount in US dollars.',
} as const

/** The same reasons in a few words, for headlines: "Declined: $15.49 at Netflix (card frozen)". */
const decline_labels: Readonly<Record<DeclineCode, string>> = {
  invalid_card: 'unknown card number',
  card_cancelled: 'card canceled',
  card_frozen: 'card frozen',
  card_expired: 'card expired',
  cvv_mismatch: 'incorrect security code',
  country_blocked: 'country not allowed',
  mcc_blocked: 'merchant type not allowed',
  limit_per_transaction: 'over the per-purchase limit',
  limit_daily: 'over the daily limit',
  limit_monthly: 'over the monthly limit',
  three_ds_failed: 'verification failed',
  three_ds_timeout: 'verification timed out',
  insufficient_funds: 'card balance too low',
  issuer_unavailable: 'temporary problem',
  system_error: 'temporary problem',
  do_not_honor: 'not approved',

  card_used: 'single-use card already used',
  merchant_blocked: 'locked to another merchant',

  duplicate_conflict: 'conflicting duplicate',
  reversed_before_auth: 'canceled by the merchant',
  programme_paused: 'purchases paused',
  account_suspended: 'account suspended',
  expiry_mismatch: 'incorrect expiration date',
  verification_attempts_exceeded: 'too many incorrect security codes',
  pin_not_supported: 'card has no PIN',
  transaction_type_not_allowed: 'transaction type not supported',
  invalid_amount: 'invalid amount',
  currency_not_supported: 'no amount in US dollars',
}

export type DeclineCode = keyof typeof decline_messages

export function declineMessage(code: string): string {
  return decline_messages[code as DeclineCode] ?? decline_messages.do_not_honor
}

export function declineLabel(code: string): string {
  return decline_labels[code as DeclineCode] ?? decline_labels.do_not_honor
}
