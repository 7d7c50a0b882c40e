import { emitAsSystem } from '#domain/audit/emit_as_system.ts'
import type { Dependencies, NewEvent } from '#domain/context/context.ts'
import { type Move, move } from '#domain/ledger/post.ts'
import { chain as chain_purse, suspense, treasury } from '#domain/ledger/purse.ts'
import { isKilled } from '#domain/risk/kill_switch.ts'
import { spendLimitsOf } from '#domain/risk/spend_limits.ts'
import { assert } from '#kernel/assert.ts'
import { dollarsFromMicros, microsFromUsd } from '#kernel/money.ts'
import type { Tx } from '#platform/postgres/db.ts'
import type { Chain } from '#rails/chain/chain.ts'
import { insertTransfer, resolveTransfer, findTransfers } from './chain_store.ts'
import {
  sumTowardsMinimum,
  type HeldReason,
  findHoldReason,
  type OwnedDeposit,
  toPendingTransfer,
  type ScreenedDeposit,
  withOutcome,
  type TransferRow,
  transferKey,
  withTransfers,
} from './deposits.ts'
import { type PendingTransfer, type TopupRow, topupReference, makeTopupView } from './topup.ts'
import { lockTopupOf, updateTopup } from './topup_store.ts'

type Parts = Pick<Dependencies, 'db' | 'clock' | 'newId' | 'settings'>

/** What a look at the chain has found for one top-up. */
export type DepositUpdate = {
  account_id: string
  topup_id: string
  finals: readonly ScreenedDeposit[]
  /** Null leaves what is pending as it stands, less what has become final. */
  pending: { seen: readonly OwnedDeposit[]; kept: readonly PendingTransfer[] } | null
}

/**
 * Brings a top-up up to date with the chain: records and moves what is final, each transfer once,
 * and shows what is pending. Transfer, movement, state and event are one transaction under the
 * top-up's lock, so that two watchers, a crash or a repeat cannot part or double them.
 */
export async function settleDeposits(
  parts: Parts,
  chain: Chain,
  findings: DepositUpdate,
): Promise<void> {
  const { account_id, topup_id } = findings
  await parts.db.transaction(async (tx) => {
    const before = await lockTopupOf(tx, account_id, topup_id)
    const known = await findTransfers(tx, account_id, topup_id)
    const settling: Settling = { parts, tx, chain, rows: known, events: [], denied: 0 }
    const keys = new Set(known.map(transferKey))
    const fresh = findings.finals.filter((deposit) => !keys.has(transferKey(deposit)))
    const pending = mergePending(before, findings, [...known, ...findings.finals])
    let topup = withTransfers(before, { ...factsOf(settling), pending })
    for (const deposit of sortByBlock(fresh)) topup = await settleTransfer(settling, topup, deposit)
    if (fresh.length === 0 && hasSameState(before, topup)) return
    if (fresh.length === 0) await updateTopup(tx, topup, parts.clock.now())
    await emitAsSystem(tx, parts, account_id, {
      events: settling.events,
      entries: Array.from({ length: settling.denied }, () => ({
        action: 'topup.suspended',
        result: 'denied' as const,
        resource: topupReference(topup_id),
      })),
    })
  })
}

type Settling = {
  parts: Parts
  tx: Tx
  chain: Chain
  rows: TransferRow[]
  events: NewEvent[]
  denied: number
}

const factsOf = ({ rows, chain }: Settling) => ({ finals: rows, showTxid: chain.showTxid })

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

/** One final transfer: into the balance, or into suspense with the reason. */
async function settleTransfer(
  settling: Settling,
  topup: TopupRow,
  deposit: ScreenedDeposit,
): Promise<TopupRow> {
  const { parts, tx, chain } = settling
  const now = parts.clock.now()
  const limits = await spendLimitsOf(tx, topup.account_id, parts.settings)
  const held = findHoldReason({
    screening: deposit.screening,
    is_killed: await isKilled(tx, 'topups'),
    clear_micros: sumTowardsMinimum(settling.rows) + deposit.value,
    minimum_micros: microsFromUsd(limits.deposit_min_usd),
  })
  const { id } = await postMovement(settling, topup, {
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
  if (held === null) await releaseBelowMinimum(settling, topup)
  else if (held !== 'below_minimum') settling.denied += 1
  settling.rows = await findTransfers(tx, topup.account_id, topup.id)
  const next = withOutcome(topup, held, now)
  const stored = await updateTopup(
    tx,
    withTransfers(next, { ...factsOf(settling), pending: topup.pending }),
    now,
  )
  settling.events.push(eventOf(settling, stored, deposit, held))
  return stored
}

/** What was too little by itself is credited with the transfer that lifts the sum. */
async function releaseBelowMinimum(settling: Settling, topup: TopupRow): Promise<void> {
  const small = settling.rows.filter(
    ({ state, held_reason }) => state === 'held' && held_reason === 'below_minimum',
  )
  for (const row of small) {
    const { id } = await postMovement(settling, topup, {
      movement: 'suspense_released',
      from: suspense,
      to: treasury,
      amount_micros: row.value_micros,
      description: `${topup.asset} on ${topup.chain}, ${settling.chain.showTxid(row.txid)}`,
    })
    const resolution = { state: 'released', movement_id: id } as const
    await resolveTransfer(settling.tx, row.movement_id, resolution)
  }
}

function postMovement(
  { parts, tx }: Settling,
  { account_id, id }: TopupRow,
  what: Pick<Move, 'movement' | 'from' | 'to' | 'amount_micros' | 'description'>,
) {
  const stamp = { now: parts.clock.now(), newId: parts.newId }
  return move(tx, { ...what, account_id, reference: topupReference(id) }, stamp)
}

const hold_reasons: Record<HeldReason, string> = {
  below_minimum: 'it is below the minimum deposit',
  screening: 'the sender is under review',
  kill_switch: 'top-ups are paused',
}

function eventOf(
  { parts }: Settling,
  topup: TopupRow,
  deposit: ScreenedDeposit,
  held: HeldReason | null,
): NewEvent {
  const amount = dollarsFromMicros(deposit.value)
  return {
    type: held === null ? 'topup.confirmed' : 'topup.error',
    severity: held === null ? 'info' : 'error',
    message:
      held === null
        ? `${amount} deposit credited.`
        : `${amount} deposit on hold: ${hold_reasons[held]}.`,
    resource: topupReference(topup.id),
    object: makeTopupView(parts.settings)(topup),
    amount_micros: deposit.value,
  }
}

/** Compares what a look at the chain can change. */
function hasSameState(before: TopupRow, after: TopupRow): boolean {
  assert(before.id === after.id, 'a top-up is compared with itself')
  const shown = ({ status, status_reason, resting_reason, pending, is_late }: TopupRow) =>
    JSON.stringify({
      status,
      status_reason,
      resting_reason,
      is_late,
      pending: pending.map((one) => [one.txid, one.ordinal, one.value, one.block_number]),
    })
  return shown(before) === shown(after)
}
