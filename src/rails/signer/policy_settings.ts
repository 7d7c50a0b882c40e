import { microsFromUsd } from '#kernel/money.ts'
import type { ChainSettings } from '#platform/chain_settings.ts'
import type { PolicySettings } from '#platform/signer_policy.ts'
import { chainsOf } from '#rails/chain/chain.ts'
import type { SignerPolicy } from './policy.ts'

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
    })),
    withdrawal_max: microsFromUsd(settings.withdrawal_max_usd),
    withdrawals_hourly_max: microsFromUsd(settings.withdrawals_hourly_max_usd),
    withdrawals_daily_max: microsFromUsd(settings.withdrawals_daily_max_usd),
    fee_max: BigInt(settings.fee_max),
    fuel_max: BigInt(settings.fuel_max),
    fuel_daily_max: BigInt(settings.fuel_daily_max),
  }
}
