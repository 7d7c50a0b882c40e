import { useState } from 'react'
import type { FlorinError } from '#client/client.ts'
import type { Evidence } from '#contract/disputes.ts'
import { useOperationMutation } from '#panel/queries.ts'
import { toast } from '#panel/ui/toast.tsx'
import { uploadEvidence } from '#panel/upload.ts'

type EvidenceSent = { unsent: readonly File[]; is_note_sent: boolean }
type EvidenceInput = { files: readonly File[]; kind: Evidence['kind']; note: string }

/** Uploads files one by one and reports the progress of the current file. */
export function useEvidenceUpload(id: string) {
  const [in_progress, setInProgress] = useState<{ file: File | null; share: number } | null>(null)
  const [problem, setProblem] = useState<FlorinError | null>(null)
  const add_note = useOperationMutation('add_dispute_evidence')

  /** The note goes with the first file, or alone. */
  const send = async ({ files, kind, note }: EvidenceInput): Promise<EvidenceSent> => {
    setProblem(null)
    let sent = 0
    let is_note_sent = false
    try {
      if (files.length === 0) {
        setInProgress({ file: null, share: 0 })
        await add_note.mutateAsync({ id, kind: 'note', note })
        is_note_sent = true
      }
      for (const file of files) {
        const with_note = sent === 0 && note.trim() !== '' ? { note } : {}
        setInProgress({ file, share: 0 })
        await uploadEvidence({ id, kind, file, ...with_note }, ({ bytes_sent }) =>
          setInProgress({ file, share: file.size === 0 ? 1 : bytes_sent / file.size }),
        )
        sent += 1
        is_note_sent = true
      }
      toast('Evidence added.')
    } catch (cause) {
      setProblem(cause as FlorinError)
    }
    setInProgress(null)
    return { unsent: files.slice(sent), is_note_sent }
  }
  return {
    send,
    problem,
    is_busy: in_progress !== null,
    file: in_progress?.file ?? null,
    share: in_progress?.share ?? 0,
  }
}
