import type { Handler } from '#domain/context/context.ts'
import { disputeReference, requireAcceptsEvidence } from './dispute.ts'
import { changeDispute, findDisputeOf, lockDisputeOf } from './dispute_store.ts'
import { requireContent, safeFileName } from './evidence.ts'
import { findEvidence, insertEvidence } from './evidence_store.ts'
import { showDispute } from './show_disputes.ts'

/** The file is stored before the transaction. A crash can leave a file, which a task sweeps. */
export const addDisputeEvidence: Handler<'add_dispute_evidence'> = {
  prepare: async (preparing, input) => {
    const { account_id } = preparing.caller
    const known = await findDisputeOf(preparing.db, account_id, input.id)
    requireAcceptsEvidence(known, (await findEvidence(preparing.db, [known])).length)
    const file = preparing.request.upload ?? null
    requireContent(input, file)

    return async ({ tx, now, newId, audit }) => {
      const dispute = await lockDisputeOf(tx, account_id, input.id)
      requireAcceptsEvidence(dispute, (await findEvidence(tx, [dispute])).length)
      await insertEvidence(tx, {
        account_id,
        dispute_id: dispute.id,
        id: file?.id ?? newId('evd'),
        kind: input.kind,
        file_name: safeFileName(input.file_name),
        content_type: file?.content_type ?? null,
        size_bytes: file === null ? null : BigInt(file.size_bytes),
        sha256: file?.sha256 ?? null,
        note: input.note ?? null,
        created_at: now,
      })
      const changed = await changeDispute(tx, dispute, { change: {}, now })
      audit(account_id, {
        action: 'add_dispute_evidence',
        resource: disputeReference(dispute.id),
      })
      return showDispute(tx, changed)
    }
  },
}
