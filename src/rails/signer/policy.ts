import type { SignerRefusal, TransferIntent } from './intent.ts'

/** The signer's own limits. Amounts are in the minor unit of the asset or coin. */
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
  /** The contracts that it may call, as 40 hex digits. */
  contracts: readonly string[]
  /** The maximum network fee of one transfer, in sun or wei. */
  fee_max: bigint
  /** The maximum of native coin sent to a deposit address to pay for its sweep. */
  fuel_max: bigint
  fuel_daily_max: bigint
  /** The cells besides cell 0 that have a hot wallet of their own. */
  cells: ReadonlySet<number>
}

const HOUR_MS = 3_600_000
const DAY_MS = 24 * HOUR_MS

/** An intent that was signed before; it counts once, however many attempts it has. */
type PastIntent = {
  chain: string
  purpose: TransferIntent['purpose']
  amount: bigint
  signed_at_ms: number
}

export type PolicyInput = {
  policy: SignerPolicy
  chain: SignerChain
  past: readonly PastIntent[]
  now_ms: number
  amount: bigint
}

/** Checks amount and velocity limits. Null if the intent is within them. */
export function checkPolicy(
  { purpose }: TransferIntent,
  { policy, chain, past, now_ms, amount }: PolicyInput,
): SignerRefusal | null {
  if (amount <= 0n) return 'bad_intent'
  // Withdrawals of all chains are dollars and add up; native coins are counted per chain.
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
