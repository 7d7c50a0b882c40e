import { notFound } from '#contract/common_problems.ts'
import type { OperatorHandler } from '#domain/operators/operator.ts'
import { findDispute } from './dispute_store.ts'
import { showDispute } from './show_disputes.ts'

export const operatorGetEvidence: OperatorHandler<'operator_get_evidence'> = async (
  { tx },
  { id, evidence_id },
) => {
  const { evidence } = await showDispute(tx, await findDispute(tx, id))
  const file = evidence.find((one) => one.id === evidence_id)
  if (file === undefined) throw notFound('file')
  return file
}
