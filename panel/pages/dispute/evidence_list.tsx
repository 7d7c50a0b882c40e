import type { Dispute, Evidence } from '#contract/disputes.ts'
import { downloadFile } from '#panel/download.ts'
import { EvidencePieces } from '#panel/ui/evidence_pieces.tsx'
import { Paperclip } from '#panel/ui/icons.ts'
import { EmptyState } from '#panel/ui/states.tsx'

const saveFile = ({ dispute_id, id }: Evidence, file_name: string) =>
  downloadFile(`/files/disputes/${dispute_id}/evidence/${id}`, file_name)

export function EvidenceList({ dispute }: { dispute: Dispute }) {
  if (dispute.evidence.length === 0) {
    if (dispute.status === 'closed') return <p className="px-4 py-3 text-soft">None added.</p>
    return (
      <EmptyState icon={Paperclip} title="No evidence yet">
        Add receipts, emails with the merchant, or photos that support your case.
      </EmptyState>
    )
  }
  return <EvidencePieces evidence={dispute.evidence} saveFile={saveFile} className="px-4" />
}
