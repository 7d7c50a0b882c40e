import { useState } from 'react'
import type { Dispute, Evidence } from '#contract/disputes.ts'
import { downloadFile } from '#panel/download.ts'
import { humanize } from '#panel/ui/badge.tsx'
import { Button } from '#panel/ui/button.tsx'
import { formatBytes } from '#panel/ui/bytes.ts'
import { Download, File as FileIcon, Image, NotebookText, Paperclip } from '#panel/ui/icons.ts'
import { EmptyState } from '#panel/ui/states.tsx'
import { Time } from '#panel/ui/time.tsx'
import { toast } from '#panel/ui/toast.tsx'

const icons = { receipt: FileIcon, screenshot: Image, note: NotebookText, other: FileIcon } as const

export function EvidenceList({ dispute }: { dispute: Dispute }) {
  if (dispute.evidence.length === 0) {
    if (dispute.status === 'closed') return <p className="px-4 py-3 text-soft">None added.</p>
    return (
      <EmptyState icon={Paperclip} title="No evidence yet">
        Add receipts, emails with the merchant, or photos that support your case.
      </EmptyState>
    )
  }
  return (
    <ul aria-label="Evidence" className="divide-y divide-line">
      {dispute.evidence.map((piece) => (
        <Piece key={piece.id} piece={piece} />
      ))}
    </ul>
  )
}

function Piece({ piece }: { piece: Evidence }) {
  const Icon = icons[piece.kind]
  const { file_name, size_bytes, note } = piece
  return (
    <li className="flex items-start gap-3 px-4 py-3">
      <Icon className="mt-0.5 size-4 shrink-0 text-soft" aria-hidden />
      <div className="min-w-0 flex-1">
        {file_name !== null && <p className="font-medium break-all">{file_name}</p>}
        {note !== null && <p className="break-words whitespace-pre-wrap">{note}</p>}
        <p className="text-sm text-soft">
          {humanize(piece.kind)}
          {size_bytes !== null && `, ${formatBytes(size_bytes)}`}, <Time at={piece.created_at} />
        </p>
      </div>
      {size_bytes !== null && <DownloadButton piece={piece} />}
    </li>
  )
}

function DownloadButton({ piece }: { piece: Evidence }) {
  const [is_busy, setBusy] = useState(false)
  const file_name = piece.file_name ?? piece.id
  const download = async () => {
    setBusy(true)
    try {
      const path = `/files/disputes/${piece.dispute_id}/evidence/${piece.id}`
      await downloadFile(path, file_name)
    } catch (cause) {
      toast((cause as Error).message, 'bad')
    }
    setBusy(false)
  }
  return (
    <Button
      kind="quiet"
      size="icon"
      busy={is_busy}
      aria-label={`Download ${file_name}`}
      onClick={() => void download()}
    >
      {!is_busy && <Download />}
    </Button>
  )
}
