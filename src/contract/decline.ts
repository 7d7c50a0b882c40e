/**
 * Every reason to decline, in words for the holder of the card. The first sixteen are the
 * contract's; the rest are the checks it allows beside them.
 */
export const decline_messages = {
  invalid_card: 'There is no card with this number.',
  card_cancelled: 'The card was cancelled.',
  card_frozen: 'The card is frozen.',
  card_expired: 'The card has expired.',
  cvv_mismatch: 'The security code is wrong.',
  country_blocked: 'The rules of the card do not allow merchants in this country.',
  mcc_blocked: 'The rules of the card do not allow this kind of merchant.',
  limit_per_transaction: 'The amount is over the limit for one purchase.',
  limit_daily: 'The amount is over what is left of the daily limit.',
  limit_monthly: 'The amount is over what is left of the monthly limit.',
  three_ds_failed: 'The purchase was not approved by the holder of the card.',
  three_ds_timeout: 'The holder of the card did not answer in time.',
  insufficient_funds: 'The card does not hold enough for this purchase.',
  issuer_unavailable: 'The purchase could not be decided in time.',
  system_error: 'The purchase could not be decided.',
  do_not_honor: 'The purchase was declined.',

  duplicate_conflict: 'The same message came before with another amount.',
  reversed_before_auth: 'The merchant took the purchase back before it arrived.',
  programme_paused: 'The programme has paused purchases for now.',
  account_suspended: 'The account is suspended.',
  expiry_mismatch: 'The expiry date is wrong.',
  verification_attempts_exceeded: 'Wrong codes were tried too often; try again tomorrow.',
  pin_not_supported: 'The card has no PIN.',
  transaction_type_not_allowed: 'The card cannot be used for this kind of transaction.',
  invalid_amount: 'The amount cannot be charged.',
  currency_not_supported: 'The amount came without its value in dollars.',
} as const

export type DeclineCode = keyof typeof decline_messages

export function declineMessage(code: string): string {
  return decline_messages[code as DeclineCode] ?? decline_messages.do_not_honor
}
