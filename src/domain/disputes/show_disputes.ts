import type { Dispute } from '#contract/disputes.ts'
import { findMerchantNames } from '#domain/transactions/transaction_store.ts'
import type { Tx } from '#platform/postgres/db.ts'
import type { PageOf } from '#platform/postgres/page.ts'
import { type DisputeRow, disputeView } from './dispute.ts'
import { findEvidence } from './evidence_store.ts'

export async function showDispute(tx: Tx, dispute: DisputeRow): Promise<Dispute> {
  return disputeView(dispute, await findEvidence(tx, [dispute]))
}

type OwnedDispute = { account_id: string; dispute: Dispute }

/** A page of disputes with their evidence and their accounts. */
export async function showDisputePage(
  tx: Tx,
  page: PageOf<DisputeRow>,
): Promise<PageOf<OwnedDispute>> {
  const evidence = await findEvidence(tx, page.data)
  const data = page.data.map((row) => ({
    account_id: row.account_id,
    dispute: disputeView(
      row,
      evidence.filter(({ dispute_id }) => dispute_id === row.id),
    ),
  }))
  return { ...page, data }
}

type OperatorDispute = Dispute & { account_id: string; merchant_name: string }

/** Disputes as an operator sees them: with their accounts and merchants. */
export async function withMerchants(
  tx: Tx,
  disputes: readonly OwnedDispute[],
): Promise<OperatorDispute[]> {
  const references = disputes.map(({ account_id, dispute: { transaction_id } }) => ({
    account_id,
    transaction_id,
  }))
  const names = await findMerchantNames(tx, references)
  return disputes.map(({ account_id, dispute }) => ({
    account_id,
    ...dispute,
    merchant_name: names.get(dispute.transaction_id) ?? '',
  }))
}
