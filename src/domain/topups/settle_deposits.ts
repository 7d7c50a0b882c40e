import { emitAsSystem } from '#domain/audit/emit_as_system.ts'
import type { NewEvent } from '#domain/context/context.ts'
import { move } from '#domain/ledger/move.ts'
import type { Move } from '#domain/ledger/post.ts'
import { chain as chain_purse, suspense, treasury } from '#domain/ledger/purse.ts'
import { isKilled } from '#domain/risk/kill_switch.ts'
import { spendLimitsOf } from '#domain/risk/spend_limits.ts'
import { assert } from '#kernel/assert.ts'
import { formatUsd, microsFromUsd } from '#kernel/money.ts'
import type { Tx } from '#platform/postgres/db.ts'
import type { Chain } from '#rails/chain/chain.ts'
import { findTransfers, insertTransfer, resolveTransfer } from './chain_store.ts'
import {
  findHoldReason,
  type HeldReason,
  type OwnedDeposit,
  type ScreenedDeposit,
  sumTowardsMinimum,
  type TransferRow,
  toPendingTransfer,
  transferKey,
  withOutcome,
  withTransfers,
} from './deposits.ts'
import { makeTopupView, type PendingTransfer, type TopupRow, topupReference } from './topup.ts'
import type { TopupDependencies } from './topup_dependencies.ts'
import { lockTopupOf, updateTopup } from './topup_store.ts'

/** The transfers of one top-up that a scan of the chain found. */
export type DepositUpdate = {
  account_id: string
  topup_id: string
  finals: readonly ScreenedDeposit[]
  /** Null keeps the pending transfers, except those that are final now. */
  pending: { seen: readonly OwnedDeposit[]; kept: readonly PendingTransfer[] } | null
  /** The head of that scan. It is stored after the deposits, and events count up to it. */
  head_number?: number
}

/**
 * Updates a top-up from the chain: credits or holds each final transfer once, and lists the pending
 * ones. Transfer, movement, status and event are one transaction under the top-up's lock, so two
 * watchers, a crash or a retry can neither separate nor repeat them.
 */
export async function settleDeposits(
  dependencies: TopupDependencies,
  chain: Chain,
  update: DepositUpdate,
): Promise<void> {
  const { account_id, topup_id } = update
  await dependencies.db.transaction(async (tx) => {
    const before = await lockTopupOf(tx, account_id, topup_id)
    const known = await findTransfers(tx, account_id, topup_id)
    const settlement: Settlement = {
      dependencies,
      tx,
      chain,
      head_number: update.head_number,
      transfers: known,
      events: [],
      denied_count: 0,
    }
    const keys = new Set(known.map(transferKey))
    const fresh = update.finals.filter((deposit) => !keys.has(transferKey(deposit)))
    const pending = mergePending(before, update, [...known, ...update.finals])
    let topup = withTransfers(before, { ...finalsOf(settlement), pending })
    for (const deposit of sortByBlock(fresh)) {
      topup = await settleTransfer(settlement, topup, deposit)
    }
    if (fresh.length === 0 && hasSameState(before, topup)) return
    if (fresh.length === 0) await updateTopup(tx, topup, dependencies.clock.now())
    await emitAsSystem(tx, dependencies, account_id, {
      events: settlement.events,
      entries: Array.from({ length: settlement.denied_count }, () => ({
        action: 'topup.suspended',
        result: 'denied' as const,
        resource: topupReference(topup_id),
      })),
    })
  })
}

type Settlement = {
  dependencies: TopupDependencies
  tx: Tx
  chain: Chain
  head_number: number | undefined
  transfers: TransferRow[]
  events: NewEvent[]
  denied_count: number
}

const finalsOf = ({ transfers, chain }: Settlement) => ({
  finals: transfers,
  showTxid: chain.showTxid,
})

function mergePending(
  topup: TopupRow,
  { pending }: DepositUpdate,
  finals: readonly { txid: string; ordinal: number }[],
): PendingTransfer[] {
  const isFinal = new Set(finals.map(transferKey))
  const all =
    pending === null
      ? topup.pending
      : [...pending.kept, ...pending.seen.map((deposit) => toPendingTransfer(topup, deposit))]
  return all
    .filter((one) => !isFinal.has(transferKey(one)))
    .sort((a, b) => a.block_number - b.block_number || a.ordinal - b.ordinal)
}

function sortByBlock(deposits: readonly ScreenedDeposit[]): ScreenedDeposit[] {
  return deposits.toSorted((a, b) => a.block_number - b.block_number || a.ordinal - b.ordinal)
}

/** Moves one final transfer into the treasury, or into suspense with a reason. */
async function settleTransfer(
  settlement: Settlement,
  topup: TopupRow,
  deposit: ScreenedDeposit,
): Promise<TopupRow> {
  const { dependencies, tx, chain } = settlement
  const now = dependencies.clock.now()
  const limits = await spendLimitsOf(tx, topup.account_id, dependencies.settings)
  const held = findHoldReason({
    screening: deposit.screening,
    is_killed: await isKilled(tx, 'topups'),
    counted_micros: sumTowardsMinimum(settlement.transfers) + deposit.value,
    minimum_micros: microsFromUsd(limits.deposit_min_usd),
  })
  const { id } = await postMovement(settlement, topup, {
    ...(held === null
      ? { movement: 'topup_settled', from: chain_purse, to: treasury }
      : { movement: 'topup_suspended', from: chain_purse, to: suspense }),
    amount_micros: deposit.value,
    description: `${deposit.asset} on ${topup.chain}, ${chain.showTxid(deposit.txid)}`,
  })
  await insertTransfer(tx, {
    chain: chain.name,
    deposit,
    value_micros: deposit.value,
    held_reason: held,
    movement_id: id,
    now,
  })
  if (held === null) await releaseBelowMinimum(settlement, topup)
  else if (held !== 'below_minimum') settlement.denied_count += 1
  settlement.transfers = await findTransfers(tx, topup.account_id, topup.id)
  const next = withOutcome(topup, held, now)
  const stored = await updateTopup(
    tx,
    withTransfers(next, { ...finalsOf(settlement), pending: topup.pending }),
    now,
  )
  settlement.events.push(eventOf(settlement, stored, deposit, held))
  return stored
}

/** Transfers below the minimum are credited with the transfer that brings their sum above it. */
async function releaseBelowMinimum(settlement: Settlement, topup: TopupRow): Promise<void> {
  const small = settlement.transfers.filter(
    ({ state, held_reason }) => state === 'held' && held_reason === 'below_minimum',
  )
  for (const row of small) {
    const { id } = await postMovement(settlement, topup, {
      movement: 'suspense_released',
      from: suspense,
      to: treasury,
      amount_micros: row.value_micros,
      description: `${topup.asset} on ${topup.chain}, ${settlement.chain.showTxid(row.txid)}`,
    })
    const resolution = { state: 'released', movement_id: id } as const
    await resolveTransfer(settlement.tx, row.movement_id, resolution)
  }
}

function postMovement(
  { dependencies: { clock, newId }, tx }: Settlement,
  { account_id, id }: TopupRow,
  movement: Pick<Move, 'movement' | 'from' | 'to' | 'amount_micros' | 'description'>,
) {
  const stamp = { now: clock.now(), newId }
  return move(tx, { ...movement, account_id, reference: topupReference(id) }, stamp)
}

const hold_reasons: Record<HeldReason, string> = {
  below_minimum: 'it is below the minimum deposit',
  screening: 'the sender is under review',
  kill_switch: 'top-ups are paused',
}

function eventOf(
  { dependencies: { settings }, head_number }: Settlement,
  topup: TopupRow,
  deposit: ScreenedDeposit,
  held: HeldReason | null,
): NewEvent {
  const amount = formatUsd(deposit.value)
  const head = head_number === undefined ? {} : { head_number: BigInt(head_number) }
  return {
    type: held === null ? 'topup.confirmed' : 'topup.error',
    severity: held === null ? 'info' : 'error',
    message:
      held === null
        ? `${amount} deposit credited.`
        : `${amount} deposit on hold: ${hold_reasons[held]}.`,
    resource: topupReference(topup.id),
    object: makeTopupView(settings)({ ...topup, ...head }),
    amount_micros: deposit.value,
  }
}

/** Compares the fields that an update can change. */
function hasSameState(before: TopupRow, after: TopupRow): boolean {
  assert(before.id === after.id, 'a top-up is compared with itself')
  const fieldsOf = ({ status, status_reason, resting_reason, pending, is_late }: TopupRow) =>
    JSON.stringify({
      status,
      status_reason,
      resting_reason,
      is_late,
      pending: pending.map((one) => [one.txid, one.ordinal, one.value, one.block_number]),
    })
  return fieldsOf(before) === fieldsOf(after)
}
