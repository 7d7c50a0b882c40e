import { notFound } from '#contract/common_problems.ts'
import { assert } from '#kernel/assert.ts'
import { idFloor } from '#kernel/id.ts'
import type { Tx } from '#platform/postgres/db.ts'
import { type Condition, makePageReader } from '#platform/postgres/page.ts'
import { type ApprovalRequest, type ApprovalRow, DECIDE_MS, USE_MS } from './approval.ts'

const COLUMNS = `account_id, id, grant_id, client_id, client_name, operation, summary,
                 amount_micros, card_id, status, created_at, expires_at, decided_at`

type SameCall = Pick<ApprovalRequest, 'account_id' | 'grant_id' | 'fingerprint'>

/** Marks the approval of this call as used and returns its ID; undefined if there is none. */
export async function useApproval(tx: Tx, call: SameCall, now: Date): Promise<string | undefined> {
  const [used] = await tx.rows<{ id: string }>(
    `update approvals set status = 'used', used_at = $4, updated_at = $4
      where account_id = $1 and id = (
              select id from approvals
               where account_id = $1 and grant_id = $2 and fingerprint = $3
                 and status = 'approved' and decided_at > $5
               order by id limit 1 for update)
  returning id`,
    [call.account_id, call.grant_id, call.fingerprint, now, new Date(now.getTime() - USE_MS)],
  )
  return used?.id
}

/** The approval that the same call is waiting for, or that it can use already. */
export async function findOpenApproval(
  tx: Tx,
  call: SameCall,
  now: Date,
): Promise<ApprovalRow | undefined> {
  const [row] = await tx.rows<ApprovalRow>(
    `select ${COLUMNS} from approvals
      where account_id = $1 and grant_id = $2 and fingerprint = $3
        and (status = 'pending' and expires_at > $4 or status = 'approved' and decided_at > $5)
      order by id limit 1`,
    [call.account_id, call.grant_id, call.fingerprint, now, new Date(now.getTime() - USE_MS)],
  )
  return row
}

/** The number of approvals that a client has asked for in the last 24 hours. */
export async function countRequests(
  tx: Tx,
  { account_id, client_id }: ApprovalRequest,
  now: Date,
): Promise<number> {
  const [row] = await tx.rows<{ count: number }>(
    `select count(*)::int as count from approvals
      where account_id = $1 and client_id = $2 and id > $3`,
    [account_id, client_id, idFloor('apr', now.getTime() - DECIDE_MS)],
  )
  return row?.count ?? 0
}

export async function insertApproval(
  tx: Tx,
  request: ApprovalRequest,
  { id, now }: { id: string; now: Date },
): Promise<ApprovalRow> {
  const [row] = await tx.rows<ApprovalRow>(
    `insert into approvals (account_id, id, grant_id, client_id, client_name, operation,
                            fingerprint, summary, amount_micros, card_id, created_at, updated_at,
                            expires_at)
     values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $11, $12)
  returning ${COLUMNS}`,
    [
      request.account_id,
      id,
      request.grant_id,
      request.client_id,
      request.client_name,
      request.operation,
      request.fingerprint,
      request.summary,
      request.amount_micros,
      request.card_id,
      now,
      new Date(now.getTime() + DECIDE_MS),
    ],
  )
  assert(row !== undefined, 'the new approval was stored')
  return row
}

export async function findApprovalOf(tx: Tx, account_id: string, id: string): Promise<ApprovalRow> {
  const [row] = await tx.rows<ApprovalRow>(
    `select ${COLUMNS} from approvals where account_id = $1 and id = $2`,
    [account_id, id],
  )
  if (row === undefined) throw notFound('approval')
  return row
}

export async function lockApprovalOf(tx: Tx, account_id: string, id: string): Promise<ApprovalRow> {
  const [row] = await tx.rows<ApprovalRow>(
    `select ${COLUMNS} from approvals where account_id = $1 and id = $2 for update`,
    [account_id, id],
  )
  if (row === undefined) throw notFound('approval')
  return row
}

export async function saveDecision(
  tx: Tx,
  { account_id, id }: ApprovalRow,
  { status, now }: { status: 'approved' | 'declined'; now: Date },
): Promise<void> {
  await tx.run(
    `update approvals set status = $3, decided_at = $4, updated_at = $4
      where account_id = $1 and id = $2`,
    [account_id, id, status, now],
  )
}

/** When a grant ends, nothing that it asked for can be decided or used. */
export async function expireApprovalsOfGrant(tx: Tx, grant_id: string, now: Date): Promise<void> {
  await tx.run(
    `update approvals set status = 'expired', updated_at = $2
      where account_id = (select account_id from oauth_grants where id = $1)
        and grant_id = $1 and status in ('pending', 'approved')`,
    [grant_id, now],
  )
}

export const readApprovalPage = makePageReader<ApprovalRow>({
  prefix: 'apr',
  select: `select ${COLUMNS} from approvals`,
})

/** SQL of each status at the time `?`. */
const STATUSES: Readonly<Record<string, string>> = {
  pending: "status = 'pending' and expires_at > ?",
  approved: "status = 'approved' and decided_at > ?::timestamptz - interval '1 hour'",
  expired: `status = 'expired' or status = 'pending' and expires_at <= ?
            or status = 'approved' and decided_at <= ?::timestamptz - interval '1 hour'`,
  declined: "status = 'declined'",
  used: "status = 'used'",
}

export function withStatuses(list: string | undefined, now: Date): Condition[] {
  if (list === undefined) return []
  const any = list.split(',').map((status) => STATUSES[status] ?? 'false')
  return [[`(${any.join(' or ')}) and ?::timestamptz is not null`, now]]
}
