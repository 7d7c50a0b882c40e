import { emitAsSystem } from '#domain/audit/emit_as_system.ts'
import type { NewEvent } from '#domain/context/context.ts'
import { move } from '#domain/ledger/move.ts'
import type { Move } from '#domain/ledger/post.ts'
import { chain as chain_purse, suspense, treasury } from '#domain/ledger/purse.ts'
import { isKilled } from '#domain/risk/kill_switch.ts'
import { spendLimitsOf } from '#domain/risk/spend_limits.ts'
import { assert } from '#kernel/assert.ts'
import { formatUsd, type Micros, microsFromUsd } from '#kernel/money.ts'
import type { Tx } from '#platform/postgres/db.ts'
import type { Chain } from '#rails/chain/chain.ts'
import { findTransfers, insertTransfer, resolveTransfer } from './chain_store.ts'
import {
  addFinalTransfer,
  findHoldReason,
  type HeldReason,
  isBelowMinimum,
  type OwnedDeposit,
  type ScreenedDeposit,
  sumTowardsMinimum,
  type TransferRow,
  toPendingTransfer,
  transferKey,
  withOutcome,
  withTransfers,
} from './deposits.ts'
import { makeTopupEventView, type PendingTransfer, type TopupRow, topupReference } from './topup.ts'
import type { TopupDependencies } from './topup_dependencies.ts'
import { lockTopupOf, updateTopup } from './topup_store.ts'

/** The transfers of one top-up that a scan of the chain found. */
export type DepositUpdate = {
  account_id: string
  topup_id: string
  /** In the order of their blocks. */
  final_transfers: readonly ScreenedDeposit[]
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
    const { final_transfers } = update
    const keys = new Set(known.map(transferKey))
    const fresh = final_transfers.filter((deposit) => !keys.has(transferKey(deposit)))
    const pending = mergePending(before, update, [...known, ...final_transfers])
    const { showTxid } = chain
    const seen = withTransfers(before, { final_transfers: known, pending, showTxid })
    const now = dependencies.clock.now()
    if (fresh.length === 0) {
      if (!hasSameState(before, seen)) await updateTopup(tx, seen, now)
      return
    }
    const input = { dependencies, tx, chain, update, now }
    const settlement = await beginSettlement(input, seen, known)
    let topup = seen
    for (const deposit of fresh) topup = await settleTransfer(settlement, topup, deposit)
    const settled = await findTransfers(tx, account_id, topup_id)
    topup = withTransfers(topup, { final_transfers: settled, pending, showTxid })
    await updateTopup(tx, topup, now, fresh.length)
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

type SettlementInput = {
  dependencies: TopupDependencies
  tx: Tx
  chain: Chain
  update: DepositUpdate
  /** One time for all that is written: an event shows the top-up as it is stored. */
  now: Date
}

type Settlement = SettlementInput & {
  is_killed: boolean
  minimum_micros: Micros
  /** These follow from the recorded transfers, which are not read again for each new one. */
  counted_micros: Micros
  below_minimum: TransferRow[]
  txids: Set<string>
  pending_txids: readonly string[]
  events: NewEvent[]
  denied_count: number
}

async function beginSettlement(
  input: SettlementInput,
  { account_id, pending }: TopupRow,
  known: readonly TransferRow[],
): Promise<Settlement> {
  const { dependencies, tx, chain } = input
  const limits = await spendLimitsOf(tx, account_id, dependencies.settings)
  return {
    ...input,
    is_killed: await isKilled(tx, 'topups'),
    minimum_micros: microsFromUsd(limits.deposit_min_usd),
    counted_micros: sumTowardsMinimum(known),
    below_minimum: known.filter(isBelowMinimum),
    txids: new Set(known.map(({ txid }) => chain.showTxid(txid))),
    pending_txids: pending.map(({ txid }) => chain.showTxid(txid)),
    events: [],
    denied_count: 0,
  }
}

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

/** Moves one final transfer into the treasury, or into suspense with a reason. */
async function settleTransfer(
  settlement: Settlement,
  topup: TopupRow,
  deposit: ScreenedDeposit,
): Promise<TopupRow> {
  const { tx, chain, counted_micros, now } = settlement
  const { txid, ordinal, block_number, block_at, value: value_micros } = deposit
  const held = findHoldReason({
    ...settlement,
    screening: deposit.screening,
    counted_micros: counted_micros + value_micros,
  })
  const { id: movement_id } = await postMovement(settlement, topup, {
    ...(held === null
      ? { movement: 'topup_settled', from: chain_purse, to: treasury }
      : { movement: 'topup_suspended', from: chain_purse, to: suspense }),
    amount_micros: value_micros,
    description: `${deposit.asset} on ${topup.chain}, ${chain.showTxid(txid)}`,
  })
  await insertTransfer(tx, {
    chain: chain.name,
    deposit,
    value_micros,
    held_reason: held,
    movement_id,
    now,
  })
  const state = held === null ? 'credited' : 'held'
  const row: TransferRow = {
    txid,
    ordinal,
    block_number: BigInt(block_number),
    block_at,
    value_micros,
    state,
    held_reason: held,
    movement_id,
  }
  const released_micros = held === null ? await releaseBelowMinimum(settlement, topup) : 0n
  record(settlement, row)
  const next = addFinalTransfer(withOutcome(topup, held, now), row, released_micros)
  const shown = { ...next, version: topup.version + 1n, updated_at: now }
  const amount_micros = value_micros + released_micros
  settlement.events.push(eventOf(settlement, shown, { amount_micros, held }))
  return shown
}

function record(settlement: Settlement, row: TransferRow): void {
  settlement.txids.add(settlement.chain.showTxid(row.txid))
  settlement.counted_micros += sumTowardsMinimum([row])
  if (isBelowMinimum(row)) settlement.below_minimum.push(row)
  else if (row.state === 'held') settlement.denied_count += 1
}

/** Transfers below the minimum are credited with the transfer that brings their sum above it. */
async function releaseBelowMinimum(settlement: Settlement, topup: TopupRow): Promise<Micros> {
  let released_micros = 0n
  for (const row of settlement.below_minimum.splice(0)) {
    const { id } = await postMovement(settlement, topup, {
      movement: 'suspense_released',
      from: suspense,
      to: treasury,
      amount_micros: row.value_micros,
      description: `${topup.asset} on ${topup.chain}, ${settlement.chain.showTxid(row.txid)}`,
    })
    const resolution = { state: 'released', movement_id: id } as const
    await resolveTransfer(settlement.tx, row.movement_id, resolution)
    released_micros += row.value_micros
  }
  return released_micros
}

function postMovement(
  { dependencies: { newId }, tx, now }: Settlement,
  { account_id, id }: TopupRow,
  movement: Pick<Move, 'movement' | 'from' | 'to' | 'amount_micros' | 'description'>,
) {
  return move(tx, { ...movement, account_id, reference: topupReference(id) }, { now, newId })
}

const hold_reasons: Record<HeldReason, string> = {
  below_minimum: 'it is below the minimum deposit',
  screening: 'the sender is under review',
  kill_switch: 'top-ups are paused',
}

function eventOf(
  { dependencies: { settings }, update: { head_number }, txids, pending_txids }: Settlement,
  topup: TopupRow,
  { amount_micros, held }: { amount_micros: Micros; held: HeldReason | null },
): NewEvent {
  const amount = formatUsd(amount_micros)
  const head = head_number === undefined ? {} : { head_number: BigInt(head_number) }
  return {
    type: held === null ? 'topup.confirmed' : 'topup.error',
    severity: held === null ? 'info' : 'error',
    message:
      held === null
        ? `${amount} deposit credited.`
        : `${amount} deposit on hold: ${hold_reasons[held]}.`,
    resource: topupReference(topup.id),
    object: makeTopupEventView(settings)({
      ...topup,
      ...head,
      // A transaction can have several transfers to the address, also final and pending ones.
      txids: [...new Set([...txids, ...pending_txids])],
    }),
    amount_micros,
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
