import { type FormEvent, useState } from 'react'
import type { Dispute, Evidence } from '#contract/disputes.ts'
import { Button } from '#panel/ui/button.tsx'
import { formatBytes } from '#panel/ui/bytes.ts'
import { DropZone } from '#panel/ui/drop_zone.tsx'
import { Select, TextArea } from '#panel/ui/field.tsx'
import { X } from '#panel/ui/icons.ts'
import { ProblemNote } from '#panel/ui/problem_note.tsx'
import { Time } from '#panel/ui/time.tsx'
import { useEvidenceUpload } from './evidence_upload.ts'

const ACCEPT = '.pdf,.png,.jpg,.jpeg,.webp,.txt,application/pdf,image/*,text/plain'
const EVIDENCE_MAX = 20

const kinds = [
  ['receipt', 'Receipt or invoice'],
  ['screenshot', 'Screenshot or photo'],
  ['other', 'Other'],
] as const

/** Uploads run one after another, because evidence cannot be removed. */
export function AddEvidence({ dispute }: { dispute: Dispute }) {
  const [files, setFiles] = useState<readonly File[]>([])
  const [kind, setKind] = useState<Evidence['kind']>('receipt')
  const [note, setNote] = useState('')
  const upload = useEvidenceUpload(dispute.id)
  const is_full = dispute.evidence.length + files.length > EVIDENCE_MAX
  const submit = async (form: FormEvent) => {
    form.preventDefault()
    const { unsent, is_note_sent } = await upload.send({ files, kind, note })
    setFiles(unsent)
    if (is_note_sent) setNote('')
  }
  return (
    <form onSubmit={(form) => void submit(form)} className="space-y-4 border-t border-line p-4">
      <DropZone
        label="Drop files here or browse"
        hint="PDF, PNG, JPEG, WebP, or plain text, up to 100 MB each"
        accept={ACCEPT}
        onFiles={(more) => setFiles([...files, ...more])}
      />
      {files.length > 0 && (
        <>
          <SelectedFiles files={files} upload={upload} onChange={setFiles} />
          <Select
            label="File type"
            value={kind}
            onChange={(change) => setKind(change.target.value as Evidence['kind'])}
            options={kinds}
          />
        </>
      )}
      <TextArea
        label="Note"
        rows={3}
        maxLength={10_000}
        required={files.length === 0}
        hint={
          <>
            Submit evidence by <Time at={dispute.evidence_due_at} />. You can’t remove it later.
          </>
        }
        value={note}
        onChange={(change) => setNote(change.target.value)}
      />
      <ProblemNote problem={upload.problem} />
      {is_full && <p className="text-bad">You can add up to {EVIDENCE_MAX} pieces of evidence.</p>}
      <Button type="submit" kind="main" busy={upload.is_busy} disabled={is_full}>
        Add evidence
      </Button>
    </form>
  )
}

type SelectedFilesProps = {
  files: readonly File[]
  upload: ReturnType<typeof useEvidenceUpload>
  onChange(files: readonly File[]): void
}

function SelectedFiles({ files, upload, onChange }: SelectedFilesProps) {
  return (
    <ul aria-label="Selected files" className="divide-y divide-line rounded-lg border border-line">
      {files.map((file) => (
        <li key={`${file.name} ${file.size} ${file.lastModified}`} className="px-3 py-2">
          <div className="flex items-center gap-3">
            <span className="min-w-0 flex-1 break-all">{file.name}</span>
            <span className="num text-sm text-soft">{formatBytes(file.size)}</span>
            <Button
              kind="quiet"
              size="icon"
              disabled={upload.is_busy}
              aria-label={`Remove ${file.name}`}
              onClick={() => onChange(files.filter((each) => each !== file))}
            >
              <X />
            </Button>
          </div>
          {upload.file === file && (
            <progress
              aria-label={`Uploading ${file.name}`}
              value={upload.share}
              max={1}
              className="block h-1.5 w-full overflow-hidden rounded-full"
            />
          )}
        </li>
      ))}
    </ul>
  )
}
