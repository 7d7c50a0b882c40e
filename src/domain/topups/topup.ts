import { Problem } from '#contract/problem.ts'
import type { Topup } from '#contract/topups.ts'
import {
  CENT_MICROS,
  formatUsd,
  greatest,
  type Micros,
  microsFromUsd,
  usdFromMicros,
} from '#kernel/money.ts'
import { type Chain, type ChainAsset, chainsOf } from '#rails/chain/chain.ts'
import type { Settings } from '#settings/settings.ts'
import type { SpendLimits } from '#settings/spend_limit_settings.ts'

/**
 * A top-up is a deposit address with an expected amount. Each final transfer to the address is
 * credited exactly once. No rate is locked, so late, partial and excess payments are all credited.
 */
export type TopupRow = {
  account_id: string
  id: string
  asset: string
  chain: string
  deposit_address: string
  amount_micros: Micros
  status: Topup['status']
  status_reason: Topup['status_reason']
  resting_status: Exclude<Topup['status'], 'confirming'>
  resting_reason: Topup['status_reason']
  pending: PendingTransfer[]
  pending_micros: Micros
  final_micros: Micros
  credited_micros: Micros
  is_late: boolean
  txids: string[]
  last_block: bigint | null
  qr_data_uri: string
  payment_uri: string
  expires_at: Date
  closed_at: Date | null
  completed_at: Date | null
  metadata: Record<string, string>
  version: bigint
  created_at: Date
  updated_at: Date
  /** The newest block read from the chain; null before the first. */
  head_number: bigint | null
}

/** Stored as JSON, whose numbers can't hold every amount, so the value is text. */
export type PendingTransfer = {
  txid: string
  ordinal: number
  value: string
  block_number: number
  is_late: boolean
}

export function topupView(topup: TopupRow, required_confirmations: number): Topup {
  return {
    id: topup.id,
    asset: topup.asset,
    chain: topup.chain,
    deposit_address: topup.deposit_address,
    amount_usd: usdFromMicros(topup.amount_micros),
    status: topup.status,
    status_reason: topup.status_reason,
    received_usd: usdFromMicros(topup.final_micros + topup.pending_micros),
    credited_usd: usdFromMicros(topup.credited_micros),
    payment_state: paymentState(topup),
    txid: topup.txids.at(-1) ?? null,
    txids: topup.txids,
    confirmations: confirmationsOf(topup),
    required_confirmations,
    qr_data_uri: topup.status === 'awaiting' ? topup.qr_data_uri : null,
    payment_uri: topup.payment_uri,
    expires_at: topup.expires_at.toISOString(),
    completed_at: topup.completed_at?.toISOString() ?? null,
    metadata: topup.metadata,
    version: Number(topup.version),
    created_at: topup.created_at.toISOString(),
    updated_at: topup.updated_at.toISOString(),
  }
}

export function makeTopupView(settings: Settings): (topup: TopupRow) => Topup {
  const chains = chainsOf(settings.chains)
  return (topup) => topupView(topup, chains.get(topup.chain)?.settings.confirmations ?? 0)
}

/** All txids of more transfers would make an event larger than 20 KB. */
const EVENT_TXIDS_MAX = 200
/** The last ones of such a top-up that an event names; GET names all. */
const EVENT_TXIDS_LAST = 20

export function makeTopupEventView(settings: Settings): (topup: TopupRow) => Topup {
  const view = makeTopupView(settings)
  return ({ txids, ...topup }) => {
    const named = txids.length <= EVENT_TXIDS_MAX ? txids : txids.slice(-EVENT_TXIDS_LAST)
    return view({ ...topup, txids: named })
  }
}

function paymentState(topup: TopupRow): Topup['payment_state'] {
  const received = topup.final_micros + topup.pending_micros
  if (received === 0n) return 'none'
  if (topup.is_late) return 'late'
  if (received === topup.amount_micros) return 'exact'
  return received < topup.amount_micros ? 'partial' : 'over'
}

/** The block of the transfer is the first confirmation. */
function confirmationsOf({ last_block, head_number }: TopupRow): number {
  if (last_block === null || head_number === null) return 0
  return Number(head_number < last_block ? 0n : head_number - last_block + 1n)
}

export function requireChainAsset(
  settings: Settings,
  input: { chain: string; asset: string },
): { chain: Chain; asset: ChainAsset } {
  const chains = chainsOf(settings.chains)
  const chain = chains.get(input.chain)
  if (chain === undefined) {
    const names = [...chains.keys()].join(', ') || 'none'
    throw new Problem('unsupported_chain', `This chain is not supported. Supported: ${names}.`, {
      details: [{ field: 'chain', message: `is not supported; supported: ${names}` }],
    })
  }
  const asset = chain.asset(input.asset)
  if (asset === undefined) {
    const names = chain.assets.map((one) => one.asset).join(', ')
    throw new Problem(
      'unsupported_asset',
      `This asset is not supported on ${chain.name}. Supported: ${names}.`,
      { details: [{ field: 'asset', message: `is not supported; supported: ${names}` }] },
    )
  }
  return { chain, asset }
}

export function requireTopupAmount(amount_usd: number, limits: SpendLimits): Micros {
  const amount_micros = microsFromUsd(amount_usd)
  const min_micros = greatest(microsFromUsd(limits.topup_min_usd), CENT_MICROS)
  const max_micros = microsFromUsd(limits.topup_max_usd)
  if (amount_micros < min_micros || amount_micros > max_micros) {
    const [least, most] = [formatUsd(min_micros), formatUsd(max_micros)]
    throw new Problem('amount_out_of_range', `A top-up must be between ${least} and ${most}.`, {
      details: [{ field: 'amount_usd', message: `must be between ${least} and ${most}` }],
    })
  }
  return amount_micros
}

/** A top-up with a transfer can't be canceled: nobody can recall the transfer. */
export function requireCancellable(topup: TopupRow): void {
  if (topup.status === 'awaiting') return
  const { status, status_reason } = topup
  const ended = status_reason === 'expired' ? 'has expired' : 'is already canceled'
  const state = status === 'cancelled' ? ended : `is ${status}`
  throw new Problem('topup_not_cancellable', `This top-up can't be canceled because it ${state}.`)
}

export const topupReference = (id: string) => ({ type: 'topup', id })
