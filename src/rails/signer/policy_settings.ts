import { microsFromUsd } from '#kernel/money.ts'
import { chainsOf } from '#rails/chain/chain.ts'
import type { ChainSettings } from '#rails/chain/chain_settings.ts'
import type { SignerPolicy } from './policy.ts'
import type { PolicySettings } from './signer_policy.ts'

/** The operator's words as the signer counts: the smallest units of assets and coins. */
export function policyFrom(
  settings: PolicySettings,
  chains: readonly ChainSettings[],
): SignerPolicy {
  return {
    chains: [...chainsOf(chains).values()].map(({ name, assets, settings: of }) => ({
      chain: name,
      family: of.family,
      chain_id: of.chain_id,
      contracts: assets.map(({ contract }) => contract),
      ...coinLimits(settings, of.family),
    })),
    withdrawal_max: microsFromUsd(settings.withdrawal_max_usd),
    withdrawals_hourly_max: microsFromUsd(settings.withdrawals_hourly_max_usd),
    withdrawals_daily_max: microsFromUsd(settings.withdrawals_daily_max_usd),
  }
}

function coinLimits(settings: PolicySettings, family: ChainSettings['family']) {
  const { fee_max, fuel_max, fuel_daily_max } = settings
  const { fee_max_wei, fuel_max_wei, fuel_daily_max_wei } = settings
  const [fee, fuel, daily] =
    family === 'tron'
      ? [fee_max, fuel_max, fuel_daily_max]
      : [fee_max_wei, fuel_max_wei, fuel_daily_max_wei]
  return { fee_max: BigInt(fee), fuel_max: BigInt(fuel), fuel_daily_max: BigInt(daily) }
}
