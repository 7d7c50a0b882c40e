/** What the operator of a signer may set, in dollars and in the chains' own coins' units. */
export type PolicySettings = {
  withdrawal_max_usd: number
  withdrawals_hourly_max_usd: number
  withdrawals_daily_max_usd: number
  fee_max: string
  fuel_max: string
  fuel_daily_max: string
  fee_max_wei: string
  fuel_max_wei: string
  fuel_daily_max_wei: string
}

/**
 * A transfer costs at most 50 TRX or 0.02 ether, and a sweep is given as much; a day's fuel is for
 * a hundred. Those without a unit in their name are in sun.
 */
export const POLICY_STANDARDS: PolicySettings = {
  withdrawal_max_usd: 25_000,
  withdrawals_hourly_max_usd: 100_000,
  withdrawals_daily_max_usd: 500_000,
  fee_max: '50000000',
  fuel_max: '50000000',
  fuel_daily_max: '5000000000',
  fee_max_wei: '20000000000000000',
  fuel_max_wei: '20000000000000000',
  fuel_daily_max_wei: '2000000000000000000',
}

/** A sentence for what is wrong, so that the start can stop with it. */
export function policySettingsFrom(given: unknown): PolicySettings | string {
  if (typeof given !== 'object' || given === null || Array.isArray(given)) return 'it is no object'
  for (const [name, value] of Object.entries(given)) {
    if (!Object.hasOwn(POLICY_STANDARDS, name)) return `${name} is no limit of the signer`
    const isRight = name.endsWith('_usd')
      ? typeof value === 'number' && value >= 0
      : typeof value === 'string' && /^\d{1,30}$/.test(value)
    if (!isRight) return `${name} is not an amount`
  }
  return { ...POLICY_STANDARDS, ...given }
}
