import type { StoredFile } from '#domain/context/context.ts'
import { bytesFromBase64 } from '#domain/disputes/evidence.ts'
import { storeEvidenceFile } from '#domain/disputes/store_evidence_file.ts'
import type { Answer } from '#operations/call.ts'
import type { Runtime } from '#operations/runtime.ts'

/**
 * Stores a base64 file like a streamed one and removes it from the input: hashing megabytes of text
 * for idempotency would block every other request.
 */
export async function takeFile(
  { blobs, newId, clock }: Runtime,
  input: Record<string, unknown>,
): Promise<StoredFile> {
  const text = String(input['content_base64'])
  delete input['content_base64']
  return storeEvidenceFile(blobs, newId('evd', clock.now()), bytesFromBase64(text))
}

/** The call failed or was a replay. If it is unknown whether the file was recorded, keep it. */
export function isNeedless({ status, headers }: Answer): boolean {
  return 'Idempotent-Replayed' in headers || (status >= 400 && status < 500)
}
