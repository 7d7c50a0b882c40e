import type { SignerRefusal } from '#rails/signer/intent.ts'

/** The signer will never sign such an intent, unless its settings change. */
export const MALFORMED_REFUSALS: readonly SignerRefusal[] = [
  'contract_not_allowed',
  'bad_address',
  'bad_intent',
]

/** Refusals that another try doesn't change. */
export const LASTING_REFUSALS: readonly SignerRefusal[] = [
  ...MALFORMED_REFUSALS,
  'amount_over_limit',
  'intent_conflict',
  'bad_approval',
]
