import type { SignerRefusal, TransferIntent } from './intent.ts'

/** What the signer will do whoever asks. Amounts are in the asset's or coin's smallest unit. */
export type SignerPolicy = {
  chains: readonly SignerChain[]
  withdrawal_max: bigint
  withdrawals_hourly_max: bigint
  withdrawals_daily_max: bigint
}

export type SignerChain = {
  chain: string
  family: 'tron' | 'evm'
  chain_id: number
  /** The only contracts that it will ever call, as 40 digits. */
  contracts: readonly string[]
  /** The most that one transfer may cost, in sun or wei. */
  fee_max: bigint
  /** The most of the chain's own coin that a deposit address is given to pay for its sweep. */
  fuel_max: bigint
  fuel_daily_max: bigint
}

const HOUR_MS = 3_600_000
const DAY_MS = 24 * HOUR_MS

/** Something that was signed before; an intent counts once, however many attempts it took. */
export type PastIntent = {
  chain: string
  purpose: TransferIntent['purpose']
  amount: bigint
  signed_at_ms: number
}

export type PolicyFacts = {
  policy: SignerPolicy
  chain: SignerChain
  past: readonly PastIntent[]
  now_ms: number
  amount: bigint
}

/** How much may leave, and how fast; null where nothing is against it. */
export function objectionTo(
  { purpose }: TransferIntent,
  { policy, chain, past, now_ms, amount }: PolicyFacts,
): SignerRefusal | null {
  if (amount <= 0n) return 'bad_intent'
  // Dollars of all chains add up; their own coins do not.
  const isAlike = (one: PastIntent) =>
    one.purpose === purpose && (purpose === 'withdrawal' || one.chain === chain.chain)
  const since = (window_ms: number) =>
    past
      .filter((one) => isAlike(one) && one.signed_at_ms > now_ms - window_ms)
      .reduce((sum, one) => sum + one.amount, amount)
  switch (purpose) {
    case 'withdrawal':
      if (amount > policy.withdrawal_max) return 'amount_over_limit'
      if (since(HOUR_MS) > policy.withdrawals_hourly_max) return 'velocity_exceeded'
      return since(DAY_MS) > policy.withdrawals_daily_max ? 'velocity_exceeded' : null
    case 'fuel':
      if (amount > chain.fuel_max) return 'amount_over_limit'
      return since(DAY_MS) > chain.fuel_daily_max ? 'velocity_exceeded' : null
    case 'sweep':
      return null
  }
}
