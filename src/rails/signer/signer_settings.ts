import { resolve } from 'node:path'
import { microsFromUsd } from '#kernel/money.ts'
import {
  ConfigError,
  type Environment,
  isRecord,
  readJson,
} from '#platform/settings/environment.ts'
import { chainsOf } from '#rails/chain/chain.ts'
import type { ChainSettings } from '#rails/chain/chain_settings.ts'
import type { SignerPolicy } from './policy.ts'

export type SignerSettings = {
  /** A Unix socket that only the signer's user and group can open. */
  signer_socket: string
  /** The signer's high-water mark, in a file separate from its record. */
  signer_mark_file: string
  /** Limits of the signer process; the service doesn't use them. */
  signer_policy: PolicySettings
}

/** Limits in dollars, and in the smallest unit of the chain's coin: sun, or wei where named. */
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

/** 50 TRX or 0.02 ether for a transfer and for the fuel of a sweep; daily fuel for a hundred. */
const POLICY_DEFAULTS: PolicySettings = {
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

export function readSignerSettings(env: Environment, data_dir: string): SignerSettings {
  return {
    signer_socket: resolve(env['FLORIN_SIGNER_SOCKET'] || `${data_dir}/signer.sock`),
    signer_mark_file: resolve(env['FLORIN_SIGNER_MARK_FILE'] || `${data_dir}/signer_mark.json`),
    signer_policy: parsePolicy(readJson(env, 'FLORIN_SIGNER_POLICY', {})),
  }
}

function invalid(reason: string): ConfigError {
  return new ConfigError(`FLORIN_SIGNER_POLICY: ${reason}.`)
}

function parsePolicy(policy: unknown): PolicySettings {
  if (!isRecord(policy)) throw invalid('it is not a JSON object')
  for (const [name, value] of Object.entries(policy)) {
    if (!Object.hasOwn(POLICY_DEFAULTS, name)) throw invalid(`${name} is not a limit of the signer`)
    const isAmount = name.endsWith('_usd')
      ? typeof value === 'number' && value >= 0
      : typeof value === 'string' && /^\d{1,30}$/.test(value)
    if (!isAmount) throw invalid(`${name} is not an amount`)
  }
  return { ...POLICY_DEFAULTS, ...policy }
}

/** The policy in the smallest units of assets and coins, for the configured chains. */
export function policyFrom(
  settings: PolicySettings,
  chains: readonly ChainSettings[],
): SignerPolicy {
  return {
    chains: [...chainsOf(chains).values()].map(({ name, assets, settings: of }) => ({
      chain: name,
      family: of.family,
      chain_id: of.chain_id,
      cells: new Set(Object.keys(of.hot_wallets).map(Number)),
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
