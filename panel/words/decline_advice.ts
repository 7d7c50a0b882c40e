import type { DeclineCode } from '#contract/decline.ts'

/** The next step for the cardholder, by decline code. */
export const decline_advice: Readonly<Record<DeclineCode, string>> = {
  invalid_card: 'Check the card number you entered.',
  card_cancelled: 'Pay with another card and update your details with the merchant.',
  card_frozen: 'Unfreeze the card and try again.',
  card_expired: 'Issue a new card, or replace this one to get a new expiration date.',
  cvv_mismatch: 'Reveal the card number and re-enter the CVV.',
  country_blocked: 'To pay here, allow this country in the card’s rules.',
  mcc_blocked: 'To pay here, allow this merchant category in the card’s rules.',
  limit_per_transaction: 'Raise the per-purchase limit, or split the payment.',
  limit_daily: 'Raise the daily limit, or wait until it resets at midnight UTC.',
  limit_monthly: 'Raise the monthly limit, or wait until it resets on the first of the month.',
  three_ds_failed: 'If this was you, try again and approve the request.',
  three_ds_timeout: 'Try again and respond to the approval request within 5 minutes.',
  insufficient_funds: 'Add money to the card and try again.',
  issuer_unavailable: 'Try again in a moment.',
  system_error: 'Try again in a moment. If it keeps happening, contact support.',
  do_not_honor: 'Contact support if you don’t know why.',
  card_used: 'Single-use cards work once. Issue a new card for the next purchase.',
  merchant_blocked: 'Pay with another card, or issue one for this merchant.',
  duplicate_conflict: 'Ask the merchant to submit the charge again.',
  reversed_before_auth: 'You weren’t charged. Try again if you still want to buy.',
  programme_paused: 'Purchases are paused. Try again later.',
  account_suspended: 'Contact support to find out why your account is suspended.',
  expiry_mismatch: 'Enter the expiration date shown on the card.',
  verification_attempts_exceeded:
    'Wait until tomorrow, then check the card details before trying again.',
  pin_not_supported: 'Pay contactless or online instead.',
  transaction_type_not_allowed: 'Use this card for purchases. Cash withdrawals aren’t supported.',
  invalid_amount: 'Ask the merchant to check the amount.',
  currency_not_supported: 'Ask the merchant to charge you in another currency.',
}
