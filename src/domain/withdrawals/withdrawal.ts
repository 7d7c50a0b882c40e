import { Problem } from '#contract/problem.ts'
import type { Withdrawal } from '#contract/withdrawals.ts'
import { formatUsd, greatest, type Micros, microsFromUsd, usdFromMicros } from '#kernel/money.ts'
import type { Chain } from '#rails/chain/chain.ts'
import type { SpendLimits } from '#settings/spend_limit_settings.ts'

/**
 * A withdrawal either arrives exactly once or returns in full. The signed bytes of a transfer are
 * stored before they are sent, and a new transfer is signed only if the last can never be mined.
 */
export type WithdrawalRow = {
  account_id: string
  id: string
  /** The held deposit that it refunds; null for a withdrawal that the account requested. */
  refund_of: string | null
  asset: string
  chain: string
  address: string
  amount_micros: Micros
  fee_micros: Micros
  status: Withdrawal['status']
  status_reason: string | null
  step: 'review' | 'reserved' | 'signed' | 'completed' | 'failed'
  attempt: number
  txid: string | null
  block_number: bigint | null
  approval: string
  next_try_at: Date
  metadata: Record<string, string>
  version: bigint
  created_at: Date
  updated_at: Date
  broadcasted_at: Date | null
  completed_at: Date | null
  /** The newest block read from the chain; null before the first. */
  head_number: bigint | null
  account_status: 'active' | 'suspended'
}

/** In review although its transfer is final: it isn't the one that was requested. */
export const isMismatch = ({ step, block_number }: WithdrawalRow): boolean =>
  step === 'review' && block_number !== null

/**
 * An unsigned withdrawal is held while its account is suspended. A refund of a deposit is an
 * operator's decision and is not held.
 */
export const isHeldBySuspension = (withdrawal: WithdrawalRow): boolean =>
  withdrawal.account_status === 'suspended' &&
  withdrawal.refund_of === null &&
  !isMismatch(withdrawal) &&
  (withdrawal.step === 'review' || withdrawal.step === 'reserved')

export function withdrawalView(withdrawal: WithdrawalRow): Withdrawal {
  return {
    id: withdrawal.id,
    asset: withdrawal.asset,
    chain: withdrawal.chain,
    address: withdrawal.address,
    amount_usd: usdFromMicros(withdrawal.amount_micros),
    fee_usd: usdFromMicros(withdrawal.fee_micros),
    net_usd: usdFromMicros(netOf(withdrawal)),
    status: withdrawal.status,
    status_reason: isHeldBySuspension(withdrawal) ? 'account_suspended' : withdrawal.status_reason,
    // Hidden until the transfer is sent.
    txid: withdrawal.broadcasted_at === null ? null : withdrawal.txid,
    confirmations: confirmationsOf(withdrawal),
    broadcasted_at: withdrawal.broadcasted_at?.toISOString() ?? null,
    completed_at: withdrawal.completed_at?.toISOString() ?? null,
    metadata: withdrawal.metadata,
    version: Number(withdrawal.version),
    created_at: withdrawal.created_at.toISOString(),
    updated_at: withdrawal.updated_at.toISOString(),
  }
}

/** The amount that arrives. */
export const netOf = ({ amount_micros, fee_micros }: WithdrawalRow): Micros =>
  amount_micros - fee_micros

function confirmationsOf({ block_number, head_number }: WithdrawalRow): number {
  if (block_number === null || head_number === null) return 0
  return Number(head_number < block_number ? 0n : head_number - block_number + 1n)
}

export function requireWithdrawalAmount(amount_usd: number, limits: SpendLimits): Micros {
  const amount_micros = microsFromUsd(amount_usd)
  const above_fee_micros = microsFromUsd(limits.withdrawal_fee_usd) + 1n
  const min_micros = greatest(microsFromUsd(limits.withdrawal_min_usd), above_fee_micros)
  const max_micros = microsFromUsd(limits.withdrawal_max_usd)
  if (amount_micros < min_micros || amount_micros > max_micros) {
    const [least, most] = [formatUsd(min_micros), formatUsd(max_micros)]
    throw new Problem('amount_out_of_range', `A withdrawal must be between ${least} and ${most}.`, {
      details: [{ field: 'amount_usd', message: `must be between ${least} and ${most}` }],
    })
  }
  return amount_micros
}

export function requireWithinDay(used_micros: Micros, limits: SpendLimits): void {
  if (used_micros <= microsFromUsd(limits.withdrawal_daily_usd)) return
  const most = formatUsd(microsFromUsd(limits.withdrawal_daily_usd))
  throw new Problem('amount_out_of_range', `You can withdraw at most ${most} per day.`, {
    details: [{ field: 'amount_usd', message: "exceeds today's remaining limit" }],
  })
}

/** Returns the 40 hex digits of an address; its checksum must be correct. */
export function requireAddress(chain: Chain, text: string): string {
  const address = chain.readAddress(text)
  if (address === null) throw invalidAddress(chain)
  const isZero = /^0+$/.test(address)
  const isContract = chain.assets.some(({ contract }) => contract === address)
  if (isZero || isContract || chain.hot_wallets.includes(address)) throw unusableAddress()
  return address
}

/** The address has no typo, but coins that are sent to it would be lost or stay with us. */
export function unusableAddress(): Problem {
  const sentence = "This address can't receive withdrawals. Use an address of your own wallet."
  return new Problem('invalid_address', sentence, {
    details: [{ field: 'address', message: "can't receive withdrawals" }],
  })
}

function invalidAddress(chain: Chain): Problem {
  const sentence = `This is not a valid ${chain.name.toUpperCase()} address. Check it for typos.`
  return new Problem('invalid_address', sentence, {
    details: [{ field: 'address', message: 'is not a valid address on this chain' }],
  })
}

/** Enough of an address to recognize it; a whole one fills a subject line. */
export const shortAddress = (address: string): string =>
  `${address.slice(0, 6)}…${address.slice(-6)}`

export const withdrawalReference = (id: string) => ({ type: 'withdrawal', id })
