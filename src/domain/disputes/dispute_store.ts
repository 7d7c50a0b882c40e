import { notFound } from '#contract/common_problems.ts'
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

/** Writes the dispute, and onto the capture that it is contested. The card must be locked. */
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

type Earlier = { has_open: boolean; won_micros: Micros }

/** What came of contesting this capture before. Steady while its card is locked. */
export async function earlierDisputes(
  tx: Tx,
  account_id: string,
  transaction_id: string,
): Promise<Earlier> {
  const [row] = await tx.rows<Earlier>(
    `select coalesce(bool_or(status <> 'closed'), false) as has_open,
            coalesce(sum(amount_micros - taken_back_micros)
                       filter (where outcome = 'won'), 0)::bigint as won_micros
       from disputes where account_id = $1 and transaction_id = $2`,
    [account_id, transaction_id],
  )
  assert(row !== undefined, 'a sum is a row')
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

export async function merchantOf(tx: Tx, dispute: DisputeRow): Promise<string> {
  const [row] = await tx.rows<{ merchant_name: string }>(
    'select merchant_name from transactions where account_id = $1 and id = $2',
    [dispute.account_id, dispute.transaction_id],
  )
  assert(row !== undefined, 'a dispute has a transaction')
  return row.merchant_name
}

/** After the lock of its card, where that is locked too. */
export async function lockDisputeOf(tx: Tx, account_id: string, id: string): Promise<DisputeRow> {
  const [row] = await tx.rows<DisputeRow>(
    `select ${COLUMNS} from disputes where account_id = $1 and id = $2 for update`,
    [account_id, id],
  )
  return requireFound(row)
}

/** For whoever runs the programme: whose dispute it is stands in it. */
export async function findDispute(tx: Tx, id: string): Promise<DisputeRow> {
  const [row] = await tx.rows<DisputeRow>(`select ${COLUMNS} from disputes where id = $1`, [id])
  return requireFound(row)
}

type DisputesAsked = { operation: string; input: PageInput; where: readonly Condition[] }

export function pageOfDisputes(tx: Tx, asked: DisputesAsked): Promise<PageOf<DisputeRow>> {
  return readPage(tx, { ...asked, prefix: 'dsp', select: `select ${COLUMNS} from disputes` })
}

export type DisputeChange = Partial<
  Pick<
    DisputeRow,
    'status' | 'outcome' | 'closed_by' | 'response_text' | 'response_at' | 'resolved_at'
  >
>

/** Writes what is named and counts the change. The dispute must be locked. */
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

/** Writes what a refund has made of a dispute that was locked for it. */
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

type Due = { now: Date; remind_at: Date }

const DUE_FOR_EVIDENCE = `status <> 'closed' and evidence_step <> 'passed'
        and evidence_due_at <= case evidence_step when 'waiting' then $2::timestamptz
                                                   else $1::timestamptz end`

/** A look without a transaction: a commit would tell the other tasks that there is work. */
export async function hasDueForEvidence(tx: Tx, { now, remind_at }: Due): Promise<boolean> {
  const found = await tx.rows(`select from disputes where ${DUE_FOR_EVIDENCE} limit 1`, [
    now,
    remind_at,
  ])
  return found.length > 0
}

/** One dispute whose holder is to hear of its deadline; those that another node is at are left. */
export async function lockDueForEvidence(
  tx: Tx,
  { now, remind_at }: Due,
): Promise<DisputeRow | undefined> {
  const [row] = await tx.rows<DisputeRow>(
    `select ${COLUMNS} from disputes
      where ${DUE_FOR_EVIDENCE}
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
