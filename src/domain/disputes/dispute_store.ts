import { notFound } from '#contract/common_problems.ts'
import type { TransactionRow } from '#domain/transactions/transaction.ts'
import { setDispute } from '#domain/transactions/transaction_store.ts'
import { assert } from '#kernel/assert.ts'
import type { Micros } from '#kernel/money.ts'
import type { Tx } from '#platform/postgres/db.ts'
import { type Condition, type PageInput, type PageOf, readPage } from '#platform/postgres/page.ts'
import { type DisputeRow, disputeExists } from './dispute.ts'

const COLUMNS = `account_id, id, transaction_id, card_id, amount_micros, taken_back_micros, reason,
  explanation, status, outcome, closed_by, response_text, response_at, evidence_due_at, metadata,
  version, created_at, updated_at, resolved_at`

type NewDispute = Pick<
  DisputeRow,
  | 'account_id'
  | 'id'
  | 'transaction_id'
  | 'card_id'
  | 'amount_micros'
  | 'reason'
  | 'explanation'
  | 'evidence_due_at'
  | 'metadata'
  | 'created_at'
>

/** Inserts the dispute and sets dispute_id on its capture. The card must be locked. */
export async function insertDispute(tx: Tx, dispute: NewDispute): Promise<DisputeRow> {
  const [row] = await tx.rows<DisputeRow>(
    `insert into disputes (account_id, id, transaction_id, card_id, amount_micros, reason,
                           explanation, evidence_due_at, metadata, created_at, updated_at)
     values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $10)
         on conflict (account_id, transaction_id) where status <> 'closed' do nothing
  returning ${COLUMNS}`,
    [
      dispute.account_id,
      dispute.id,
      dispute.transaction_id,
      dispute.card_id,
      dispute.amount_micros,
      dispute.reason,
      dispute.explanation,
      dispute.evidence_due_at,
      JSON.stringify(dispute.metadata),
      dispute.created_at,
    ],
  )
  if (row === undefined) throw disputeExists()
  await setDispute(tx, row)
  return row
}

/** `credited_micros` is what disputes of all captures of the purchase have credited. */
type EarlierDisputes = { has_open: boolean; won_micros: Micros; credited_micros: Micros }

/**
 * Earlier disputes of this capture and its purchase. The result stays valid while the card is
 * locked.
 */
export async function findEarlierDisputes(
  tx: Tx,
  { account_id, id, authorization_id }: TransactionRow,
): Promise<EarlierDisputes> {
  const [row] = await tx.rows<EarlierDisputes>(
    `select coalesce(bool_or(status <> 'closed') filter (where transaction_id = $2), false)
              as has_open,
            coalesce(sum(amount_micros - taken_back_micros)
                       filter (where transaction_id = $2 and outcome = 'won'), 0)::bigint
              as won_micros,
            coalesce(sum(amount_micros - taken_back_micros)
                       filter (where outcome is distinct from 'lost'), 0)::bigint
              as credited_micros
       from disputes
      where account_id = $1
        and transaction_id in (
              select $2 union all
              select id from transactions
               where account_id = $1 and authorization_id = $3 and type = 'capture')`,
    [account_id, id, authorization_id],
  )
  assert(row !== undefined, 'an aggregate returns a row')
  return row
}

function requireFound(row: DisputeRow | undefined): DisputeRow {
  if (row === undefined) throw notFound('dispute')
  return row
}

export async function findDisputeOf(tx: Tx, account_id: string, id: string): Promise<DisputeRow> {
  const [row] = await tx.rows<DisputeRow>(
    `select ${COLUMNS} from disputes where account_id = $1 and id = $2`,
    [account_id, id],
  )
  return requireFound(row)
}

export async function findMerchantName(tx: Tx, dispute: DisputeRow): Promise<string> {
  const [row] = await tx.rows<{ merchant_name: string }>(
    'select merchant_name from transactions where account_id = $1 and id = $2',
    [dispute.account_id, dispute.transaction_id],
  )
  assert(row !== undefined, 'a dispute has a transaction')
  return row.merchant_name
}

/** If the card is locked too, lock it first. */
export async function lockDisputeOf(tx: Tx, account_id: string, id: string): Promise<DisputeRow> {
  const [row] = await tx.rows<DisputeRow>(
    `select ${COLUMNS} from disputes where account_id = $1 and id = $2 for update`,
    [account_id, id],
  )
  return requireFound(row)
}

/** For operators, who know only the dispute's id. */
export async function findDispute(tx: Tx, id: string): Promise<DisputeRow> {
  const [row] = await tx.rows<DisputeRow>(`select ${COLUMNS} from disputes where id = $1`, [id])
  return requireFound(row)
}

type DisputePageInput = { operation: string; input: PageInput; where: readonly Condition[] }

export function readDisputePage(tx: Tx, query: DisputePageInput): Promise<PageOf<DisputeRow>> {
  return readPage(tx, { ...query, prefix: 'dsp', select: `select ${COLUMNS} from disputes` })
}

export type DisputeChange = Partial<
  Pick<
    DisputeRow,
    'status' | 'outcome' | 'closed_by' | 'response_text' | 'response_at' | 'resolved_at'
  >
>

/** Updates the named columns and increments the version. The dispute must be locked. */
export async function changeDispute(
  tx: Tx,
  { account_id, id }: Pick<DisputeRow, 'account_id' | 'id'>,
  { change, now }: { change: DisputeChange; now: Date },
): Promise<DisputeRow> {
  const names = Object.keys(change)
  const [row] = await tx.rows<DisputeRow>(
    `update disputes set ${names.map((name, at) => `${name} = $${at + 4}, `).join('')}
            version = version + 1, updated_at = $3
      where account_id = $1 and id = $2
  returning ${COLUMNS}`,
    [account_id, id, now, ...Object.values(change)],
  )
  return requireFound(row)
}

type CaptureKey = { account_id: string; id: string }

/** The disputes of these captures that were not lost. The captures' cards must be locked. */
export function lockCreditedDisputes(
  tx: Tx,
  captures: readonly CaptureKey[],
): Promise<DisputeRow[]> {
  return tx.rows<DisputeRow>(
    `select ${COLUMNS} from disputes
      where (account_id, transaction_id) in (select * from unnest($1::text[], $2::text[]))
        and outcome is distinct from 'lost'
      order by account_id, id
        for update`,
    [captures.map(({ account_id }) => account_id), captures.map(({ id }) => id)],
  )
}

/** Stores the credit and status that a refund has changed. The dispute must be locked. */
export async function updateCredit(tx: Tx, dispute: DisputeRow): Promise<void> {
  await tx.run(
    `update disputes
        set taken_back_micros = $3, status = $4, outcome = $5, closed_by = $6, resolved_at = $7,
            version = $8, updated_at = $9
      where account_id = $1 and id = $2`,
    [
      dispute.account_id,
      dispute.id,
      dispute.taken_back_micros,
      dispute.status,
      dispute.outcome,
      dispute.closed_by,
      dispute.resolved_at,
      dispute.version,
      dispute.updated_at,
    ],
  )
}

type ReminderTimes = { now: Date; remind_at: Date }

const REMINDER_DUE = `status <> 'closed' and evidence_step <> 'passed'
        and evidence_due_at <= case evidence_step when 'waiting' then $2::timestamptz
                                                   else $1::timestamptz end`

/** Runs without a transaction, because a commit would wake idle tasks. */
export async function hasEvidenceReminderDue(
  tx: Tx,
  { now, remind_at }: ReminderTimes,
): Promise<boolean> {
  const found = await tx.rows(`select from disputes where ${REMINDER_DUE} limit 1`, [
    now,
    remind_at,
  ])
  return found.length > 0
}

/** Locks one dispute whose reminder is due and skips those that another node has locked. */
export async function lockEvidenceReminder(
  tx: Tx,
  { now, remind_at }: ReminderTimes,
): Promise<DisputeRow | undefined> {
  const [row] = await tx.rows<DisputeRow>(
    `select ${COLUMNS} from disputes
      where ${REMINDER_DUE}
      order by evidence_due_at limit 1
        for update skip locked`,
    [now, remind_at],
  )
  return row
}

export async function markEvidenceStep(
  tx: Tx,
  { account_id, id }: DisputeRow,
  step: 'reminded' | 'passed',
): Promise<void> {
  await tx.run('update disputes set evidence_step = $3 where account_id = $1 and id = $2', [
    account_id,
    id,
    step,
  ])
}
