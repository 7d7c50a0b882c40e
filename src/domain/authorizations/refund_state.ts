import type { DisputeRow } from '#domain/disputes/dispute.ts'
import { lockCreditedDisputes, updateCredit } from '#domain/disputes/dispute_store.ts'
import type { EvidenceRow } from '#domain/disputes/evidence.ts'
import { findEvidence } from '#domain/disputes/evidence_store.ts'
import type { TransactionRow } from '#domain/transactions/transaction.ts'
import { TRANSACTION_COLUMNS } from '#domain/transactions/transaction_store.ts'
import type { Micros } from '#kernel/money.ts'
import type { Tx } from '#platform/postgres/db.ts'
import type { CardRequest } from './request.ts'

/** A refund's share of one capture. */
export type RefundPart = {
  account_id: string
  refund_id: string
  capture_id: string
  amount_micros: Micros
}

/** The refund shares and disputed captures that a batch has loaded. */
export type RefundState = {
  parts: RefundPart[]
  new_parts: RefundPart[]
  /** Disputes whose credit was paid to the cardholder. */
  disputes: readonly DisputeRow[]
  evidence: readonly EvidenceRow[]
  changed_disputes: Set<DisputeRow>
}

type LoadedRefunds = {
  refunds: RefundState
  /** Captures without an authorization, found through the refunds that name them. */
  captures: TransactionRow[]
}

/** Queries only if the batch has refunds or reversals, or captures of refunded purchases. */
export async function findRefundState(
  tx: Tx,
  batch: readonly CardRequest[],
  rows: readonly TransactionRow[],
): Promise<LoadedRefunds> {
  const refunds: RefundState = {
    parts: [],
    new_parts: [],
    disputes: [],
    evidence: [],
    changed_disputes: new Set(),
  }
  const has = (kind: CardRequest['kind']) => batch.some((request) => request.kind === kind)
  const settled = rows.filter(({ type, status }) => type === 'refund' && status === 'settled')
  const needsParts = has('reverse') || has('capture')
  if (needsParts && settled.length > 0) refunds.parts = await partsOf(tx, settled)
  if (!has('refund') && !has('reverse')) return { refunds, captures: [] }
  const disputed = rows.filter(({ type, dispute_id }) => type === 'capture' && dispute_id !== null)
  if (disputed.length > 0) {
    refunds.disputes = await lockCreditedDisputes(tx, disputed)
    refunds.evidence = await findEvidence(tx, refunds.disputes)
  }
  const known = new Set(rows.map(({ id }) => id))
  const unknown = refunds.parts.filter(({ capture_id }) => !known.has(capture_id))
  return { refunds, captures: unknown.length > 0 ? await capturesOf(tx, unknown) : [] }
}

function partsOf(tx: Tx, refunds: readonly TransactionRow[]): Promise<RefundPart[]> {
  return tx.rows<RefundPart>(
    `select p.account_id, p.refund_id, p.capture_id, p.amount_micros
       from unnest($1::text[], $2::text[]) as r (account_id, id)
       join refund_parts p on p.account_id = r.account_id and p.refund_id = r.id`,
    [refunds.map(({ account_id }) => account_id), refunds.map(({ id }) => id)],
  )
}

function capturesOf(tx: Tx, parts: readonly RefundPart[]): Promise<TransactionRow[]> {
  return tx.rows<TransactionRow>(
    `select ${TRANSACTION_COLUMNS} from transactions
      where (account_id, id) in (select * from unnest($1::text[], $2::text[]))`,
    [parts.map(({ account_id }) => account_id), parts.map(({ capture_id }) => capture_id)],
  )
}

export async function writeRefundState(tx: Tx, refunds: RefundState): Promise<void> {
  const { new_parts, changed_disputes } = refunds
  for (const dispute of changed_disputes) await updateCredit(tx, dispute)
  await Promise.all(new_parts.map((part) => insertPart(tx, part)))
}

async function insertPart(tx: Tx, part: RefundPart): Promise<void> {
  await tx.run(
    `insert into refund_parts (account_id, refund_id, capture_id, amount_micros)
     values ($1, $2, $3, $4)`,
    [part.account_id, part.refund_id, part.capture_id, part.amount_micros],
  )
}
