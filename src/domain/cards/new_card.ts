import type { Shipping, Wallet } from '#contract/cards.ts'
import { fieldProblem } from '#contract/common_problems.ts'
import type { InputOfName } from '#contract/operations.ts'
import { Problem } from '#contract/problem.ts'
import type { Context } from '#domain/context/context.ts'
import type { BinProfile } from '#settings/bin_settings.ts'
import type { CardRow } from './card.ts'
import { insertCard } from './card_store.ts'
import { invalidCountry } from './controls.ts'
import { isCountry } from './countries.ts'
import { createPan } from './pan_vault.ts'

type IssueInput = InputOfName<'issue_card'>

/** The requested BIN, or the program's default for this type. */
export function requireBin(
  bins: readonly BinProfile[],
  { bin, type }: Pick<IssueInput, 'bin' | 'type'>,
): BinProfile {
  const candidates = bins.filter(({ types }) => types.includes(type))
  const profile =
    bin === undefined
      ? (candidates.find((each) => each.default) ?? candidates[0])
      : candidates.find((each) => each.bin === bin)
  if (profile !== undefined) return profile
  const message = `is not available for ${type} cards; see get_limits`
  throw fieldProblem('unsupported_bin', 'bin', message)
}

/** The same BIN, if the program still issues virtual cards with it. */
export function replacementBin(bins: readonly BinProfile[], bin: string): BinProfile {
  const same = bins.find((each) => each.bin === bin && each.types.includes('virtual'))
  return same ?? requireBin(bins, { type: 'virtual' })
}

/** A requested wallet is ready; for a physical card it is pending until the card is produced. */
export function initialWallet(
  type: CardRow['type'],
  requested: readonly (keyof Wallet)[] | undefined,
): Wallet {
  const stateOf = (name: keyof Wallet) =>
    requested?.includes(name) ? (type === 'virtual' ? 'ready' : 'pending') : 'unsupported'
  return { apple_pay: stateOf('apple_pay'), google_pay: stateOf('google_pay') }
}

/** Required for a physical card and refused for a virtual one. */
export function parseShipping({ type, shipping }: IssueInput): Shipping | null {
  if (type === 'virtual') {
    if (shipping === undefined) return null
    throw new Problem('invalid_request', 'Shipping is only available for a physical card.', {
      status: 422,
      details: [{ field: 'shipping', message: 'must not be sent for a virtual card' }],
    })
  }
  if (shipping === undefined) {
    throw new Problem('shipping_required', 'A physical card requires a shipping address.', {
      details: [{ field: 'shipping', message: 'is required for a physical card' }],
    })
  }
  if (!isCountry(shipping.country)) throw invalidCountry('shipping.country', shipping.country)
  const { line2 = null, state = null, phone = null, method = 'standard' } = shipping
  const progress = { carrier: null, tracking_number: null, tracking_url: null }
  const timestamps = { shipped_at: null, delivered_at: null }
  const address = { ...shipping, line2, state, phone, method }
  return { ...address, status: 'pending', ...progress, ...timestamps }
}

const YEARS_VALID = 4

/** Cards expire at the end of a month. */
function computeExpiry(now: Date): Pick<CardRow, 'exp_month' | 'exp_year'> {
  return { exp_month: now.getUTCMonth() + 1, exp_year: now.getUTCFullYear() + YEARS_VALID }
}

/** If this many random numbers are all taken, the BIN is practically full. */
const PAN_ATTEMPTS_MAX = 20

export type CardDraft = Pick<
  CardRow,
  | 'client_id'
  | 'type'
  | 'name'
  | 'wallet'
  | 'shipping'
  | 'replaces'
  | 'metadata'
  | 'per_transaction_micros'
  | 'daily_micros'
  | 'monthly_micros'
  | 'mcc_allow'
  | 'mcc_deny'
  | 'geo_allow'
  | 'geo_deny'
  | 'usage'
  | 'merchant_lock_name'
  | 'merchant_lock_id'
  | 'valid_until'
>

/** Inserts a card with a number that no other card has or had. */
export async function createCard(
  context: Context,
  { bin, brand }: BinProfile,
  draft: CardDraft,
): Promise<CardRow> {
  const { tx, caller, now } = context
  const id = context.newId('card')
  for (let attempt = 0; attempt < PAN_ATTEMPTS_MAX; attempt += 1) {
    const card = await insertCard(tx, {
      account_id: caller.account_id,
      id,
      bin,
      brand,
      ...draft,
      ...createPan(context, bin, id),
      ...computeExpiry(now),
      created_at: now,
    })
    if (card !== undefined) return card
  }
  throw new Error(`no free card number in BIN ${bin} after ${PAN_ATTEMPTS_MAX} attempts`)
}
