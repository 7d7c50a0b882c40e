import type { Dispute } from '#contract/disputes.ts'
import type { Tx } from '#platform/postgres/db.ts'
import type { Condition, PageInput, PageOf } from '#platform/postgres/page.ts'
import { type DisputeRow, disputeView } from './dispute.ts'
import { pageOfDisputes } from './dispute_store.ts'
import { findEvidence } from './evidence_store.ts'

export async function showDispute(tx: Tx, dispute: DisputeRow): Promise<Dispute> {
  return disputeView(dispute, await findEvidence(tx, [dispute]))
}

type OwnedDispute = { account_id: string; dispute: Dispute }

/** A page of disputes, each with its evidence and whose it is. */
export async function showDisputes(
  tx: Tx,
  asked: { operation: string; input: PageInput; where: readonly Condition[] },
): Promise<PageOf<OwnedDispute>> {
  const page = await pageOfDisputes(tx, asked)
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
