import { fieldProblem } from '#contract/common_problems.ts'
import type { Evidence } from '#contract/disputes.ts'
import type { InputOfName } from '#contract/operations.ts'
import type { Problem } from '#contract/problem.ts'
import type { StoredFile } from '#domain/context/context.ts'
import { nextTurn } from '#platform/runtime/next_turn.ts'

export type EvidenceRow = {
  account_id: string
  dispute_id: string
  id: string
  kind: Evidence['kind']
  file_name: string | null
  content_type: string | null
  size_bytes: bigint | null
  sha256: string | null
  note: string | null
  created_at: Date
}

export function evidenceView(piece: EvidenceRow): Evidence {
  return {
    id: piece.id,
    dispute_id: piece.dispute_id,
    kind: piece.kind,
    file_name: piece.file_name,
    content_type: piece.content_type,
    size_bytes: piece.size_bytes === null ? null : Number(piece.size_bytes),
    sha256: piece.sha256,
    note: piece.note,
    created_at: piece.created_at.toISOString(),
  }
}

type EvidenceInput = Pick<InputOfName<'add_dispute_evidence'>, 'note' | 'file_name'>

/** Evidence is a file, a note or both. A file name needs a file. */
export function requireContent({ note, file_name }: EvidenceInput, file: StoredFile | null): void {
  if (file === null && file_name !== undefined) {
    throw invalid('file_name', 'was sent without a file')
  }
  if (file === null && (note === undefined || note.trim() === '')) {
    throw invalid('note', 'is required without a file')
  }
}

function invalid(field: string, message: string): Problem {
  return fieldProblem('invalid_request', field, message)
}

const NAME_LENGTH_MAX = 255
/** Control characters, quotes, and characters that change the text direction. */
const UNSAFE_CHARACTERS = /[\u0000-\u001f\u007f-\u009f\u200e\u200f\u202a-\u202e\u2066-\u2069"]/g

/** The last part of a path, without misleading characters. It is shown, never opened. */
export function safeFileName(sent: string | undefined): string | null {
  const last = (sent ?? '').split(/[/\\]/).at(-1) ?? ''
  const name = last.replaceAll(UNSAFE_CHARACTERS, '').trim().slice(0, NAME_LENGTH_MAX)
  return name === '' || name === '.' || name === '..' ? null : name
}

/** A multiple of four, because base64 encodes groups of four characters. */
const SLICE_LENGTH = 262_144

/**
 * Decodes base64 in slices, so a large file does not block the event loop. Text that is not exactly
 * the encoding of its bytes is refused.
 */
export async function* bytesFromBase64(text: string): AsyncGenerator<Uint8Array> {
  const padding = text.endsWith('==') ? 2 : text.endsWith('=') ? 1 : 0
  const length = text.length - padding
  if (length === 0) throw notBase64()
  for (let at = 0; at < length; at += SLICE_LENGTH) {
    const slice = text.slice(at, Math.min(at + SLICE_LENGTH, length))
    const bytes = Buffer.from(slice, 'base64')
    if (bytes.toString('base64').slice(0, slice.length) !== slice || bytes.length === 0) {
      throw notBase64()
    }
    yield bytes
    await nextTurn()
  }
}

const notBase64 = () => invalid('content_base64', 'is not valid base64')
