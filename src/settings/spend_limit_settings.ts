import { formatUsd, isUsdAmount, microsFromUsd, USD_MAX } from '#kernel/money.ts'
import {
  ConfigError,
  type Environment,
  isRecord,
  readJson,
} from '#platform/settings/environment.ts'

/** In dollars, under the contract's names. An operator can set each of them for one account. */
export type SpendLimits = {
  deposit_min_usd: number
  topup_min_usd: number
  topup_max_usd: number
  load_min_usd: number
  load_max_usd: number
  card_balance_max_usd: number
  cards_max: number
  per_transaction_max_usd: number
  daily_max_usd: number
  monthly_max_usd: number
  withdrawal_min_usd: number
  withdrawal_max_usd: number
  withdrawal_daily_usd: number
  withdrawal_fee_usd: number
}

export const DEFAULT_SPEND_LIMITS: SpendLimits = {
  deposit_min_usd: 1,
  topup_min_usd: 5,
  topup_max_usd: 50_000,
  load_min_usd: 1,
  load_max_usd: 10_000,
  card_balance_max_usd: 20_000,
  cards_max: 100,
  per_transaction_max_usd: 10_000,
  daily_max_usd: 20_000,
  monthly_max_usd: 100_000,
  withdrawal_min_usd: 10,
  withdrawal_max_usd: 25_000,
  withdrawal_daily_usd: 50_000,
  withdrawal_fee_usd: 1,
}

/** Pairs of a minimum and the maximum of the same amount. */
const RANGES = [
  ['topup_min_usd', 'topup_max_usd'],
  ['load_min_usd', 'load_max_usd'],
  ['withdrawal_min_usd', 'withdrawal_max_usd'],
] as const

type LimitConflict = { field: keyof SpendLimits; message: string }

/**
 * The first of the changed limits that leaves no amount between a minimum and its maximum. A
 * maximum of 0 is no conflict: it blocks, whatever the minimum is.
 */
export function findLimitConflict(
  limits: SpendLimits,
  changed: readonly string[],
): LimitConflict | null {
  for (const [minimum, maximum] of RANGES) {
    const [least, most] = [limits[minimum], limits[maximum]]
    if (most === 0 || least <= most) continue
    if (changed.includes(minimum)) {
      return { field: minimum, message: `must be at most ${dollars(most)} (${maximum})` }
    }
    if (changed.includes(maximum)) {
      return { field: maximum, message: `must be 0, or at least ${dollars(least)} (${minimum})` }
    }
  }
  return null
}

const dollars = (usd: number): string => formatUsd(microsFromUsd(usd))

/** FLORIN_SPEND_LIMITS is a JSON object with any of the limits; the others keep their default. */
export function readSpendLimits(env: Environment): SpendLimits {
  const limits = readJson(env, 'FLORIN_SPEND_LIMITS', {})
  if (!isRecord(limits)) throw new ConfigError('FLORIN_SPEND_LIMITS is not a JSON object.')
  for (const [name, value] of Object.entries(limits)) {
    if (!Object.hasOwn(DEFAULT_SPEND_LIMITS, name) || !isUsdAmount(value)) {
      throw new ConfigError(
        `FLORIN_SPEND_LIMITS: ${name} is not a limit, or not a number from 0 to ${USD_MAX} with ` +
          'at most 6 decimals.',
      )
    }
  }
  const spend_limits: SpendLimits = { ...DEFAULT_SPEND_LIMITS, ...limits }
  const conflict = findLimitConflict(spend_limits, Object.keys(limits))
  if (conflict !== null) {
    throw new ConfigError(`FLORIN_SPEND_LIMITS: ${conflict.field} ${conflict.message}.`)
  }
  return spend_limits
}
