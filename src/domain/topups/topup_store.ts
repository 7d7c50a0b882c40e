import { notFound } from '#contract/common_problems.ts'
import { assert } from '#kernel/assert.ts'
import { INDEXES_PER_CELL } from '#kernel/cell.ts'
import type { Tx } from '#platform/postgres/db.ts'
import { type Condition, type PageInput, type PageOf, readPage } from '#platform/postgres/page.ts'
import type { CellSettings } from '#settings/cell_settings.ts'
import type { CursorRow } from './chain_store.ts'
import type { TopupRow } from './topup.ts'

const STORED_COLUMNS = `account_id, id, asset, chain, deposit_address, amount_micros, status,
  status_reason, resting_status, resting_reason, pending, pending_micros, final_micros,
  credited_micros, is_late, txids, last_block, qr_data_uri, payment_uri, expires_at, closed_at,
  completed_at, metadata, version, created_at, updated_at`

const COLUMNS = `${STORED_COLUMNS},
  (select head_number from chain_cursors c where c.chain = topups.chain) as head_number`

export async function takeAddressIndex(
  tx: Tx,
  { cell, more_cells }: CellSettings,
): Promise<number> {
  const [row] = await tx.rows<{ index: bigint }>(
    `select next_number('deposit_address_index') as index`,
  )
  assert(row !== undefined, 'a sequence has a next number')
  const isInRange = row.index < INDEXES_PER_CELL || more_cells.length === 0
  assert(isInRange, 'a cell gives out at most 2^24 deposit addresses')
  return cell * INDEXES_PER_CELL + Number(row.index)
}

/** Skips indexes that may have been given out; returns the next one. */
export async function skipAddressIndexes(tx: Tx, count: number): Promise<number> {
  const [row] = await tx.rows<{ index: bigint }>(
    `select skip_numbers('deposit_address_index', $1) as index`,
    [count],
  )
  assert(row !== undefined, 'a sequence has a next number')
  return Number(row.index)
}

export type NewTopup = Pick<
  TopupRow,
  | 'account_id'
  | 'id'
  | 'asset'
  | 'chain'
  | 'deposit_address'
  | 'amount_micros'
  | 'qr_data_uri'
  | 'payment_uri'
  | 'expires_at'
  | 'metadata'
  | 'created_at'
> & { address: string; address_index: number; client_id?: string | null }

/**
 * Inserts the top-up and its address. The address is watched permanently. A new top-up has no
 * transfer to count confirmations of, so the chain's head is not read: Citus refuses an insert with
 * a subquery.
 */
export async function insertTopup(tx: Tx, topup: NewTopup): Promise<TopupRow> {
  const [row] = await tx.rows<TopupRow>(
    `insert into topups (account_id, id, asset, chain, deposit_address, address_index,
                         amount_micros, qr_data_uri, payment_uri, expires_at, metadata,
                         created_at, updated_at, client_id)
     values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $12, $13)
  returning ${STORED_COLUMNS}, null::bigint as head_number`,
    [
      topup.account_id,
      topup.id,
      topup.asset,
      topup.chain,
      topup.deposit_address,
      topup.address_index,
      topup.amount_micros,
      topup.qr_data_uri,
      topup.payment_uri,
      topup.expires_at,
      JSON.stringify(topup.metadata),
      topup.created_at,
      topup.client_id ?? null,
    ],
  )
  assert(row !== undefined, 'the new top-up was stored')
  await tx.run(
    `insert into deposit_addresses
       (chain, address, account_id, topup_id, address_index, created_at)
     values ($1, $2, $3, $4, $5, $6)`,
    [topup.chain, topup.address, topup.account_id, topup.id, topup.address_index, topup.created_at],
  )
  return row
}

export async function findTopupOf(tx: Tx, account_id: string, id: string): Promise<TopupRow> {
  const [row] = await tx.rows<TopupRow>(
    `select ${COLUMNS} from topups where account_id = $1 and id = $2`,
    [account_id, id],
  )
  return requireFound(row)
}

/** Every change of a top-up takes this lock first, before any purse. */
export async function lockTopupOf(tx: Tx, account_id: string, id: string): Promise<TopupRow> {
  const [row] = await tx.rows<TopupRow>(
    `select ${COLUMNS} from topups where account_id = $1 and id = $2 for update of topups`,
    [account_id, id],
  )
  return requireFound(row)
}

function requireFound(row: TopupRow | undefined): TopupRow {
  if (row === undefined) throw notFound('top-up')
  return row
}

export function pageOfTopups(
  tx: Tx,
  input: PageInput,
  where: readonly Condition[],
): Promise<PageOf<TopupRow>> {
  return readPage(tx, {
    operation: 'list_topups',
    prefix: 'tup',
    select: `select ${COLUMNS} from topups`,
    where,
    input,
  })
}

/** Stores a locked top-up as its next version, or as the last of several that have events. */
export async function updateTopup(
  tx: Tx,
  topup: TopupRow,
  now: Date,
  versions = 1,
): Promise<TopupRow> {
  const [row] = await tx.rows<TopupRow>(
    `update topups
        set status = $3, status_reason = $4, resting_status = $5, resting_reason = $6,
            pending = $7, pending_micros = $8, final_micros = $9, credited_micros = $10,
            is_late = $11, txids = $12, last_block = $13, expires_at = $14, closed_at = $15,
            completed_at = $16, version = version + $18, updated_at = $17
      where account_id = $1 and id = $2
  returning ${COLUMNS}`,
    [
      topup.account_id,
      topup.id,
      topup.status,
      topup.status_reason,
      topup.resting_status,
      topup.resting_reason,
      JSON.stringify(topup.pending),
      topup.pending_micros,
      topup.final_micros,
      topup.credited_micros,
      topup.is_late,
      topup.txids,
      topup.last_block,
      topup.expires_at,
      topup.closed_at,
      topup.completed_at,
      now,
      versions,
    ],
  )
  return requireFound(row)
}

/**
 * Awaiting top-ups whose window has closed, on chains that were read successfully after that: a
 * transfer that arrived in time is recorded by then, even if the node was down for long.
 */
export async function findExpired(
  tx: Tx,
  now: Date,
): Promise<{ account_id: string; id: string }[]> {
  return tx.rows(
    `select t.account_id, t.id
       from topups t join chain_cursors c on c.chain = t.chain and c.fault is null
      where t.status = 'awaiting' and t.expires_at <= $1 and c.scanned_at >= t.expires_at
      order by t.expires_at limit 200`,
    [now],
  )
}

/** True if the window of an awaiting top-up has closed since the chain was read. */
export async function hasClosedWindow(
  tx: Tx,
  { chain, scanned_at }: Pick<CursorRow, 'chain' | 'scanned_at'>,
  now: Date,
): Promise<boolean> {
  const closed = await tx.rows(
    `select from topups
      where status = 'awaiting' and expires_at > $2 and expires_at <= $3 and chain = $1 limit 1`,
    [chain, scanned_at, now],
  )
  return closed.length > 0
}
