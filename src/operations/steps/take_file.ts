import { bytesFromBase64 } from '#domain/disputes/evidence.ts'
import { storeEvidenceFile } from '#domain/disputes/store_evidence_file.ts'
import type { Answer } from '#operations/call.ts'
import type { Programme } from '#operations/programme.ts'
import type { StoredFile } from '#platform/context.ts'

/**
 * A file that is sent as base64 in the input is stored like one that is streamed, and leaves the
 * input: hashing and fingerprinting megabytes of text would hold up every other request.
 */
export async function takeFile(
  { blobs, newId, clock }: Programme,
  input: Record<string, unknown>,
): Promise<StoredFile> {
  const text = String(input['content_base64'])
  delete input['content_base64']
  return storeEvidenceFile(blobs, newId('evd', clock.now()), bytesFromBase64(text))
}

/** Refused, or a repeat. Where it is unknown whether the file was recorded, it stays. */
export function isNeedless({ status, headers }: Answer): boolean {
  return 'Idempotent-Replayed' in headers || (status >= 400 && status < 500)
}
