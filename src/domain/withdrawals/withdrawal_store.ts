import { notFound } from '#contract/common_problems.ts'
import { lockStatus } from '#domain/accounts/account_store.ts'
import { assert } from '#kernel/assert.ts'
import type { Micros } from '#kernel/money.ts'
import type { Tx } from '#platform/postgres/db.ts'
import { type Condition, type PageInput, type PageOf, readPage } from '#platform/postgres/page.ts'
import type { SentTransferRow } from './sent_transfers.ts'
import type { WithdrawalRow } from './withdrawal.ts'

const COLUMNS = `account_id, id, refund_of, asset, chain, address, amount_micros, fee_micros,
  status, status_reason, step, attempt, txid, block_number, approval, next_try_at, metadata,
  version, created_at, updated_at, broadcasted_at, completed_at,
  (select head_number from chain_cursors c where c.chain = withdrawals.chain) as head_number,
  (select a.status from accounts a where a.id = withdrawals.account_id) as account_status`

type NewWithdrawal = Pick<
  WithdrawalRow,
  | 'account_id'
  | 'id'
  | 'refund_of'
  | 'asset'
  | 'chain'
  | 'address'
  | 'amount_micros'
  | 'fee_micros'
  | 'status_reason'
  | 'step'
  | 'approval'
  | 'metadata'
  | 'created_at'
> & { client_id: string | null }

/**
 * Inserts the withdrawal and reads it, in one round trip. Citus refuses an insert with a subquery,
 * which the columns have.
 */
export async function insertWithdrawal(tx: Tx, one: NewWithdrawal): Promise<WithdrawalRow> {
  const [, [row]] = await Promise.all([
    tx.run(
      `insert into withdrawals (account_id, id, asset, chain, address, amount_micros, fee_micros,
                                status_reason, step, approval, metadata, next_try_at, created_at,
                                updated_at, refund_of, client_id)
       values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $12, $12, $13, $14)`,
      [
        one.account_id,
        one.id,
        one.asset,
        one.chain,
        one.address,
        one.amount_micros,
        one.fee_micros,
        one.status_reason,
        one.step,
        one.approval,
        JSON.stringify(one.metadata),
        one.created_at,
        one.refund_of,
        one.client_id,
      ],
    ),
    tx.rows<WithdrawalRow>(`select ${COLUMNS} from withdrawals where account_id = $1 and id = $2`, [
      one.account_id,
      one.id,
    ]),
  ])
  assert(row !== undefined, 'the new withdrawal was stored')
  return row
}

export async function findWithdrawalOf(
  tx: Tx,
  account_id: string,
  id: string,
): Promise<WithdrawalRow> {
  const [row] = await tx.rows<WithdrawalRow>(
    `select ${COLUMNS} from withdrawals
      where account_id = $1 and id = $2 and refund_of is null`,
    [account_id, id],
  )
  return requireFound(row)
}

/** Every change of a withdrawal takes this lock first, before any purse. */
export async function lockWithdrawal(
  tx: Tx,
  { account_id, id }: { account_id: string; id: string },
): Promise<WithdrawalRow> {
  const [row] = await tx.rows<WithdrawalRow>(
    `select ${COLUMNS} from withdrawals
      where account_id = $1 and id = $2 for update of withdrawals`,
    [account_id, id],
  )
  return requireFound(row)
}

/**
 * Locks the withdrawal and its account's status, so a suspension comes either before or after. The
 * status needs its own statement, because one that waited for the lock would see the old status.
 */
export async function lockWithAccountStatus(
  tx: Tx,
  of: { account_id: string; id: string },
): Promise<WithdrawalRow> {
  const withdrawal = await lockWithdrawal(tx, of)
  return { ...withdrawal, account_status: await lockStatus(tx, of.account_id) }
}

function requireFound(row: WithdrawalRow | undefined): WithdrawalRow {
  if (row === undefined) throw notFound('withdrawal')
  return row
}

type WithdrawalList = {
  operation: 'list_withdrawals' | 'operator_list_withdrawals'
  input: PageInput
  where: readonly Condition[]
}

export function pageOfWithdrawals(tx: Tx, list: WithdrawalList): Promise<PageOf<WithdrawalRow>> {
  return readPage(tx, {
    prefix: 'wd',
    select: `select ${COLUMNS} from withdrawals`,
    ...list,
  })
}

/** The amount that counts towards today's limit. Failed withdrawals were returned. */
export async function sumWithdrawnToday(tx: Tx, account_id: string, now: Date): Promise<Micros> {
  const [row] = await tx.rows<{ used: Micros }>(
    `select coalesce(sum(amount_micros), 0)::bigint as used from withdrawals
      where account_id = $1 and status <> 'failed' and refund_of is null
        and created_at >= date_trunc('day', $2::timestamptz, 'UTC')`,
    [account_id, now],
  )
  return row?.used ?? 0n
}

export async function isDepositAddress(tx: Tx, chain: string, address: string): Promise<boolean> {
  const [row] = await tx.rows<{ is_ours: boolean }>(
    'select is_deposit_address($1, $2) as is_ours',
    [chain, address],
  )
  return row?.is_ours === true
}

type DueFilter = { chain: string; step: 'reserved' | 'signed'; now: Date }

export async function findDueWithdrawals(tx: Tx, due: DueFilter): Promise<WithdrawalRow[]> {
  return tx.rows<WithdrawalRow>(
    `select ${COLUMNS} from withdrawals
      where chain = $1 and step = $2 and next_try_at <= $3
        and (step = 'signed' or refund_of is not null or not exists (
             select from accounts a where a.id = account_id and a.status = 'suspended'))
      order by next_try_at, id limit 50`,
    [due.chain, due.step, due.now],
  )
}

/** Checked first, because it is cheaper than taking a lease. */
export async function hasDueWithdrawal(tx: Tx, due: DueFilter): Promise<boolean> {
  const rows = await tx.rows(
    'select from withdrawals where chain = $1 and step = $2 and next_try_at <= $3 limit 1',
    [due.chain, due.step, due.now],
  )
  return rows.length > 0
}

/** All transfers that were ever signed for it, newest first. */
export async function findTransfers(
  tx: Tx,
  { account_id, id }: WithdrawalRow,
): Promise<SentTransferRow[]> {
  return tx.rows<SentTransferRow>(
    `select attempt, txid, raw, signature, expires_at, nonce, created_at
       from withdrawal_transfers
      where account_id = $1 and withdrawal_id = $2 order by attempt desc`,
    [account_id, id],
  )
}

export async function insertTransfer(
  tx: Tx,
  { account_id, id }: WithdrawalRow,
  transfer: SentTransferRow,
): Promise<void> {
  await tx.run(
    `insert into withdrawal_transfers (account_id, withdrawal_id, attempt, txid, raw, signature,
                                       expires_at, nonce, created_at)
     values ($1, $2, $3, $4, $5, $6, $7, $8, $9)`,
    [
      account_id,
      id,
      transfer.attempt,
      transfer.txid,
      transfer.raw,
      transfer.signature,
      transfer.expires_at,
      transfer.nonce,
      transfer.created_at,
    ],
  )
}

type WithdrawalChange = Partial<
  Pick<
    WithdrawalRow,
    | 'status'
    | 'status_reason'
    | 'step'
    | 'attempt'
    | 'txid'
    | 'block_number'
    | 'broadcasted_at'
    | 'completed_at'
    | 'next_try_at'
  >
>

/** Writes a change to a locked withdrawal as its next version. */
export async function updateWithdrawal(
  tx: Tx,
  before: WithdrawalRow,
  change: WithdrawalChange,
  now: Date,
): Promise<WithdrawalRow> {
  const next = { ...before, ...change }
  const [row] = await tx.rows<WithdrawalRow>(
    `update withdrawals
        set status = $3, status_reason = $4, step = $5, attempt = $6, txid = $7,
            block_number = $8, broadcasted_at = $9, completed_at = $10, next_try_at = $11,
            version = version + 1, updated_at = $12
      where account_id = $1 and id = $2
  returning ${COLUMNS}`,
    [
      next.account_id,
      next.id,
      next.status,
      next.status_reason,
      next.step,
      next.attempt,
      next.txid,
      next.block_number,
      next.broadcasted_at,
      next.completed_at,
      next.next_try_at,
      now,
    ],
  )
  return requireFound(row)
}

/** Sets the next check without a new version. */
export async function postpone(tx: Tx, { account_id, id }: WithdrawalRow, until: Date) {
  await tx.run('update withdrawals set next_try_at = $3 where account_id = $1 and id = $2', [
    account_id,
    id,
    until,
  ])
}

/** For operators, whose calls name no account. */
export async function findWithdrawalOwner(tx: Tx, id: string): Promise<string> {
  const [row] = await tx.rows<WithdrawalRow>('select account_id from withdrawals where id = $1', [
    id,
  ])
  return requireFound(row).account_id
}
