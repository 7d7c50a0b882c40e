import type { Shipping, Wallet } from '#contract/cards.ts'
import { fieldProblem } from '#contract/common_problems.ts'
import type { InputOfName } from '#contract/operations.ts'
import { Problem } from '#contract/problem.ts'
import type { Context } from '#domain/context/context.ts'
import type { BinProfile } from '#settings/settings.ts'
import type { CardRow } from './card.ts'
import { insertCard } from './card_store.ts'
import { invalidCountry } from './controls.ts'
import { isCountry } from './countries.ts'
import { createPan } from './pan_vault.ts'

type IssueInput = InputOfName<'issue_card'>

/** The one that was asked for, or the programme's own choice for this type. */
export function requireBin(
  bins: readonly BinProfile[],
  { bin, type }: Pick<IssueInput, 'bin' | 'type'>,
): BinProfile {
  const fitting = bins.filter(({ types }) => types.includes(type))
  const profile =
    bin === undefined
      ? (fitting.find((each) => each.default) ?? fitting[0])
      : fitting.find((each) => each.bin === bin)
  if (profile !== undefined) return profile
  const message = `is not available for ${type} cards; see get_limits`
  throw fieldProblem('unsupported_bin', 'bin', message)
}

/** A number of the same BIN, as long as the programme still issues it. */
export function replacementBin(bins: readonly BinProfile[], bin: string): BinProfile {
  const same = bins.find((each) => each.bin === bin && each.types.includes('virtual'))
  return same ?? requireBin(bins, { type: 'virtual' })
}

/** Ready where it was asked for; a card of plastic has to be made first. */
export function walletFor(
  type: CardRow['type'],
  asked: readonly (keyof Wallet)[] | undefined,
): Wallet {
  const stateOf = (name: keyof Wallet) =>
    asked?.includes(name) ? (type === 'virtual' ? 'ready' : 'pending') : 'unsupported'
  return { apple_pay: stateOf('apple_pay'), google_pay: stateOf('google_pay') }
}

/** Where a physical card goes; a virtual one goes nowhere, and a wrong address is not ignored. */
export function shippingFrom({ type, shipping }: IssueInput): Shipping | null {
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
function expiryFrom(now: Date): Pick<CardRow, 'exp_month' | 'exp_year'> {
  return { exp_month: now.getUTCMonth() + 1, exp_year: now.getUTCFullYear() + YEARS_VALID }
}

/** How often a number is drawn again: a BIN where this is not enough is full. */
const DRAWS_MAX = 20

export type CardDraft = Pick<
  CardRow,
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
>

/** A card with a number that no other card has or had. */
export async function makeCard(
  context: Context,
  { bin, brand }: BinProfile,
  draft: CardDraft,
): Promise<CardRow> {
  const { tx, caller, now } = context
  const id = context.newId('card')
  for (let draw = 0; draw < DRAWS_MAX; draw += 1) {
    const card = await insertCard(tx, {
      account_id: caller.account_id,
      id,
      bin,
      brand,
      ...draft,
      ...createPan(context, bin, id),
      ...expiryFrom(now),
      created_at: now,
    })
    if (card !== undefined) return card
  }
  throw new Error(`no free number was found in ${DRAWS_MAX} draws`)
}
