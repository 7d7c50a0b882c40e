import type { Message } from '#iso8583/message.ts'
import type { CardMessage, Outcome } from '#test/simulation/model/commands.ts'

/** DE 39 of the default link, from the contract: any network, and the networks' own codes. */
type Codes = readonly [any: string, visa?: string, mastercard?: string]

const codes: Readonly<Record<string, Codes>> = {
  invalid_card: ['14'],
  card_cancelled: ['14', '46'],
  card_used: ['14', '46'],
  card_frozen: ['62', '9G'],
  card_expired: ['54'],
  cvv_mismatch: ['63', 'N7'],
  country_blocked: ['62', '9G'],
  mcc_blocked: ['03', '9G'],
  merchant_blocked: ['03', '9G'],
  limit_per_transaction: ['61'],
  limit_daily: ['61'],
  limit_monthly: ['61'],
  three_ds_failed: ['1A', '1A', '65'],
  three_ds_timeout: ['1A', '1A', '65'],
  insufficient_funds: ['51'],
  do_not_honor: ['05'],
  duplicate_conflict: ['94'],
  reversed_before_auth: ['94'],
  account_suspended: ['62', '59'],
  expiry_mismatch: ['54'],
  verification_attempts_exceeded: ['62', '59'],
  pin_not_supported: ['57'],
  transaction_type_not_allowed: ['57'],
  invalid_amount: ['13'],
  currency_not_supported: ['13'],
}

function declineCode(code: string, pan: string): string {
  const [any, visa, mastercard] = codes[code] ?? ['?']
  return (pan.startsWith('4') ? visa : mastercard) ?? any
}

/** The response code that a predicted outcome demands. */
function expectedCode(predicted: Outcome, mti: string, pan: string): string {
  const isAdvice = mti[2] === '2'
  switch (predicted.result) {
    case 'approved':
      return predicted.minor === undefined ? '00' : '10'
    case 'declined':
      return isAdvice && predicted.code !== 'duplicate_conflict'
        ? '00'
        : declineCode(predicted.code, pan)
    case 'original_unknown':
      return isAdvice ? '00' : '25'
    case 'no_action':
      return isAdvice ? '00' : '21'
    default:
      return '00'
  }
}

/** True if the host's answer is the predicted one. */
export function isPredicted(
  predicted: Outcome,
  { command, answer, pan }: { command: CardMessage; answer: Message; pan: string },
): boolean {
  const { mti, fields } = answer
  const request_mti = `${mti.slice(0, 2)}${Number(mti[2]) - 1}0`
  if (fields[39] !== expectedCode(predicted, request_mti, pan)) return false
  if (predicted.result === 'approved' && predicted.minor !== undefined) {
    return BigInt(fields[4] ?? '0') === predicted.minor
  }
  return command.op !== 'authorize' || hasCodeResult(predicted, fields[44])
}

/** DE 44: M, N or P for a CVV that matches, doesn't, or was not processed. */
function hasCodeResult(predicted: Outcome, shown: string | undefined): boolean {
  if (shown === undefined || !('is_code_right' in predicted)) return true
  const { is_code_right } = predicted
  return shown === (is_code_right === null ? 'P' : is_code_right ? 'M' : 'N')
}
