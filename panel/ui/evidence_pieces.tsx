import { useState } from 'react'
import type { Evidence } from '#contract/disputes.ts'
import { humanize } from './badge.tsx'
import { Button } from './button.tsx'
import { formatBytes } from './bytes.ts'
import { Download, File as FileIcon, Image, NotebookText } from './icons.ts'
import { Time } from './time.tsx'
import { toast } from './toast.tsx'

const icons = { receipt: FileIcon, screenshot: Image, note: NotebookText, other: FileIcon } as const

/** Saves the file of a piece. Cardholders and operators read it from different paths. */
type SaveFile = (piece: Evidence, file_name: string) => Promise<void>
type Props = { evidence: readonly Evidence[]; saveFile: SaveFile; className?: string }

export function EvidencePieces({ evidence, saveFile, className = '' }: Props) {
  return (
    <ul aria-label="Evidence" className="divide-y divide-line">
      {evidence.map((piece) => (
        <Piece key={piece.id} piece={piece} saveFile={saveFile} className={className} />
      ))}
    </ul>
  )
}

type PieceProps = { piece: Evidence; saveFile: SaveFile }

function Piece({ piece, saveFile, className }: PieceProps & { className: string }) {
  const Icon = icons[piece.kind]
  const { file_name, size_bytes, note } = piece
  return (
    <li className={`flex items-start gap-3 py-3 ${className}`}>
      <Icon className="mt-0.5 size-4 shrink-0 text-soft" aria-hidden />
      <div className="min-w-0 flex-1">
        {file_name !== null && <p className="font-medium break-all">{file_name}</p>}
        {note !== null && <p className="break-words whitespace-pre-wrap">{note}</p>}
        <p className="text-sm text-soft">
          {humanize(piece.kind)}
          {size_bytes !== null && `, ${formatBytes(size_bytes)}`}, <Time at={piece.created_at} />
        </p>
      </div>
      {size_bytes !== null && <DownloadButton piece={piece} saveFile={saveFile} />}
    </li>
  )
}

function DownloadButton({ piece, saveFile }: PieceProps) {
  const [is_busy, setBusy] = useState(false)
  const file_name = piece.file_name ?? piece.id
  const download = async () => {
    setBusy(true)
    try {
      await saveFile(piece, file_name)
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
