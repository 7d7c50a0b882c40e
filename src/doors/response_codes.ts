import type { DeclineCode } from '#contract/decline.ts'
import type { Decision } from '#domain/authorizations/request.ts'

/**
 * Element 39 by decline code, with the networks' exceptions. For Visa, 57, 14 and 46 mean "do not
 * retry", so declines that the cardholder can lift are 9G there.
 */
type ResponseCodes = { readonly any: string; readonly visa?: string; readonly mastercard?: string }

const response_codes: Readonly<Record<DeclineCode, ResponseCodes>> = {
  invalid_card: { any: '14' },
  card_cancelled: { any: '14', visa: '46' },
  card_frozen: { any: '62', visa: '9G' },
  card_expired: { any: '54' },
  cvv_mismatch: { any: '63', visa: 'N7' },
  country_blocked: { any: '62', visa: '9G' },
  mcc_blocked: { any: '03', visa: '9G' },
  limit_per_transaction: { any: '61' },
  limit_daily: { any: '61' },
  limit_monthly: { any: '61' },
  three_ds_failed: { any: '1A', mastercard: '65' },
  three_ds_timeout: { any: '1A', mastercard: '65' },
  insufficient_funds: { any: '51' },
  issuer_unavailable: { any: '91' },
  system_error: { any: '96' },
  do_not_honor: { any: '05' },

  card_used: { any: '14', visa: '46' },
  merchant_blocked: { any: '03', visa: '9G' },

  duplicate_conflict: { any: '94' },
  reversed_before_auth: { any: '94' },
  programme_paused: { any: '91' },
  account_suspended: { any: '62', visa: '59' },
  expiry_mismatch: { any: '54' },
  verification_attempts_exceeded: { any: '62', visa: '59' },
  pin_not_supported: { any: '57' },
  transaction_type_not_allowed: { any: '57' },
  invalid_amount: { any: '13' },
  currency_not_supported: { any: '13' },
}

export const APPROVED = '00'
export const FORMAT_ERROR = '30'
export const NOT_SUPPORTED = '40'
export const ISSUER_INOPERATIVE = '91'
const PARTIAL_APPROVAL = '10'
const NO_ACTION = '21'
const UNKNOWN_ORIGINAL = '25'

function declineResponseCode(code: DeclineCode, network: Decision['network']): string {
  const row = response_codes[code]
  return (network === null ? undefined : row[network]) ?? row.any
}

/** Advices are always accepted, because they report something that has already happened. */
export function responseCode(decision: Decision, is_advice: boolean): string {
  const { verdict, decline_code, network } = decision
  if (is_advice && decline_code !== 'duplicate_conflict') return APPROVED
  if (verdict === 'declined') return declineResponseCode(decline_code ?? 'do_not_honor', network)
  if (decision.part !== null) return PARTIAL_APPROVAL
  if (verdict === 'original_unknown') return UNKNOWN_ORIGINAL
  return verdict === 'no_action' ? NO_ACTION : APPROVED
}
