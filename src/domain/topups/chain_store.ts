import type { Micros } from '#kernel/money.ts'
import type { Tx } from '#platform/postgres/db.ts'
import type { BlockHeader } from '#rails/chain/deposit_source.ts'
import { addHolding } from './address_holding_store.ts'
import type { DepositOwner, HeldReason, ScreenedDeposit, TransferRow } from './deposits.ts'
import type { PendingTransfer } from './topup.ts'

export type CursorRow = {
  chain: string
  finalized_number: bigint
  finalized_hash: string
  audited_number: bigint
  head_number: bigint
  head_at: Date
  scanned_at: Date
  fault: string | null
  audit_fault: string | null
}

export async function findCursors(tx: Tx): Promise<CursorRow[]> {
  return tx.rows<CursorRow>(
    `select chain, finalized_number, finalized_hash, audited_number, head_number, head_at,
            scanned_at, fault, audit_fault
       from chain_cursors order by chain`,
  )
}

export async function findCursor(tx: Tx, chain: string): Promise<CursorRow | undefined> {
  return (await findCursors(tx)).find((cursor) => cursor.chain === chain)
}

type CursorUpdate = { chain: string; head: BlockHeader; finalized: BlockHeader; now: Date }

/** The cursor only moves forward, so a node that has fallen behind cannot move it back. */
export async function advanceCursor(
  tx: Tx,
  { chain, head, finalized, now }: CursorUpdate,
): Promise<void> {
  await tx.run(
    `insert into chain_cursors as c (chain, finalized_number, finalized_hash, audited_number,
                                     head_number, head_at, scanned_at)
     values ($1, $2, $3, $2, $4, $5, $6)
         on conflict (chain) do update
        set finalized_number = excluded.finalized_number,
            finalized_hash = excluded.finalized_hash, head_number = excluded.head_number,
            head_at = excluded.head_at,
            scanned_at = greatest(c.scanned_at, excluded.scanned_at), fault = null
      where c.finalized_number <= excluded.finalized_number`,
    [chain, finalized.number, finalized.hash, head.number, new Date(head.timestamp_ms), now],
  )
}

/** The fault of a chain that was read completely. */
export const UNSETTLED = 'not all deposits could be settled'

/**
 * The chain was read, but a deposit could not be settled: the next scan begins at the same block.
 * The fault is stored with the scan, because no top-up may expire before its deposit is settled.
 */
export async function recordUnsettled(
  tx: Tx,
  { chain, head, finalized, now }: CursorUpdate,
): Promise<void> {
  await tx.run(
    `update chain_cursors
        set head_number = $3, head_at = $4, scanned_at = greatest(scanned_at, $5), fault = $6
      where chain = $1 and finalized_number <= $2`,
    [chain, finalized.number, head.number, new Date(head.timestamp_ms), now, UNSETTLED],
  )
}

/** A chain that was never read successfully has no cursor, so its fault has a table of its own. */
export async function recordFault(
  tx: Tx,
  chain: string,
  { fault, now }: { fault: string; now: Date },
): Promise<void> {
  const updated = await tx.run('update chain_cursors set fault = $2 where chain = $1', [
    chain,
    fault,
  ])
  if (updated > 0) return
  await tx.run(
    `insert into chain_faults (chain, fault, noted_at) values ($1, $2, $3)
         on conflict (chain) do update set fault = excluded.fault, noted_at = excluded.noted_at`,
    [chain, fault, now],
  )
}

/** Faults of chains that were never read successfully. */
export async function findFaultsWithoutCursor(tx: Tx): Promise<Map<string, string>> {
  const rows = await tx.rows<{ chain: string; fault: string }>(
    `select chain, fault from chain_faults f
      where not exists (select from chain_cursors c where c.chain = f.chain)`,
  )
  return new Map(rows.map(({ chain, fault }) => [chain, fault]))
}

export async function advanceAudit(tx: Tx, chain: string, number: number): Promise<void> {
  await tx.run(
    `update chain_cursors
        set audited_number = greatest(audited_number, $2), audit_fault = null
      where chain = $1`,
    [chain, number],
  )
}

export async function recordAuditFault(tx: Tx, chain: string, fault: string): Promise<void> {
  await tx.run('update chain_cursors set audit_fault = $2 where chain = $1', [chain, fault])
}

/** Null above count_max: reading every transfer of the asset is cheaper then. */
export async function findWatchedAddresses(
  tx: Tx,
  chain: string,
  count_max: number,
): Promise<string[] | null> {
  const rows = await tx.rows<{ address: string }>(
    'select address from deposit_addresses where chain = $1 limit $2',
    [chain, count_max + 1],
  )
  return rows.length > count_max ? null : rows.map(({ address }) => address)
}

export async function findAddressOwners(
  tx: Tx,
  chain: string,
  addresses: readonly string[],
): Promise<Map<string, DepositOwner>> {
  const rows = await tx.rows<DepositOwner>(
    `select address, account_id, topup_id
       from deposit_addresses where chain = $1 and address = any($2)`,
    [chain, addresses],
  )
  return new Map(rows.map((row) => [row.address, row]))
}

/** Top-ups with pending transfers; a transfer that left the chain must be removed from them. */
export async function findConfirming(
  tx: Tx,
  chain: string,
): Promise<{ account_id: string; topup_id: string; pending: PendingTransfer[] }[]> {
  return tx.rows(
    `select account_id, id as topup_id, pending from topups
      where chain = $1 and status = 'confirming'`,
    [chain],
  )
}

/** The keys (txid and ordinal) of those transfers that are recorded already. */
export async function findRecordedKeys(
  tx: Tx,
  chain: string,
  txids: readonly string[],
): Promise<Set<string>> {
  const rows = await tx.rows<{ key: string }>(
    `select txid || ':' || ordinal as key from chain_transfers
      where chain = $1 and txid = any($2)`,
    [chain, txids],
  )
  return new Set(rows.map(({ key }) => key))
}

/** The keys of recorded transfers by block number. */
export async function findRecordedByBlock(
  tx: Tx,
  chain: string,
  { from, to }: { from: number; to: number },
): Promise<Map<number, string[]>> {
  const rows = await tx.rows<{ block_number: bigint; keys: string[] }>(
    `select block_number, array_agg(txid || ':' || ordinal) as keys from chain_transfers
      where chain = $1 and block_number between $2 and $3 group by block_number`,
    [chain, from, to],
  )
  return new Map(rows.map(({ block_number, keys }) => [Number(block_number), keys]))
}

export async function findTransfers(
  tx: Tx,
  account_id: string,
  topup_id: string,
): Promise<TransferRow[]> {
  return tx.rows<TransferRow>(
    `select txid, ordinal, block_number, block_at, value_micros, state, held_reason, movement_id
       from chain_transfers where account_id = $1 and topup_id = $2
      order by block_number, txid, ordinal`,
    [account_id, topup_id],
  )
}

type NewTransfer = {
  chain: string
  deposit: ScreenedDeposit
  value_micros: Micros
  held_reason: HeldReason | null
  movement_id: string
  now: Date
}

/** The primary key refuses a transfer that is recorded already and ends the transaction. */
export async function insertTransfer(tx: Tx, transfer: NewTransfer): Promise<void> {
  const { chain, deposit, value_micros, held_reason, movement_id, now } = transfer
  await tx.run(
    `insert into chain_transfers (chain, txid, ordinal, account_id, topup_id, block_number,
                                  block_hash, block_at, from_address, value_micros, screening,
                                  state, held_reason, movement_id, created_at, asset)
     values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16)`,
    [
      chain,
      deposit.txid,
      deposit.ordinal,
      deposit.account_id,
      deposit.topup_id,
      deposit.block_number,
      deposit.block_hash,
      deposit.block_at,
      deposit.from,
      value_micros,
      JSON.stringify(deposit.screening),
      held_reason === null ? 'credited' : 'held',
      held_reason,
      movement_id,
      now,
      deposit.asset,
    ],
  )
  const { to: address, asset, value } = deposit
  await addHolding(tx, { chain, address, asset, value_micros: value })
}

/** Moves a held transfer into or out of its refund. */
export async function setTransferState(
  tx: Tx,
  held_movement_id: string,
  { from, to }: Record<'from' | 'to', 'held' | 'refunding'>,
): Promise<void> {
  await tx.run('update chain_transfers set state = $3 where movement_id = $1 and state = $2', [
    held_movement_id,
    from,
    to,
  ])
}

/** Ends a hold; the row keeps its held_reason. */
export async function resolveTransfer(
  tx: Tx,
  held_movement_id: string,
  { state, movement_id }: { state: 'released' | 'refunded'; movement_id: string },
): Promise<void> {
  await tx.run(
    `update chain_transfers set state = $2, resolution_movement_id = $3
      where movement_id = $1 and state in ('held', 'refunding')`,
    [held_movement_id, state, movement_id],
  )
}
