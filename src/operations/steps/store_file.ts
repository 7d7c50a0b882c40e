import { bytesFromBase64 } from '#domain/disputes/evidence.ts'
import { storeEvidenceFile } from '#domain/disputes/store_evidence_file.ts'
import type { Response } from '#operations/call.ts'
import type { Invocation } from '#operations/invocation.ts'

/**
 * Stores a base64 file like a streamed one and removes it from the input: hashing megabytes of text
 * for idempotency would block every other request.
 */
export function storeInputFile({ runtime, input, request }: Invocation): void | Promise<void> {
  if (input['content_base64'] === undefined) return
  const bytes = bytesFromBase64(String(input['content_base64']))
  delete input['content_base64']
  const id = runtime.newId('evd', runtime.clock.now())
  return storeEvidenceFile(runtime.blobs, id, bytes).then((file) => {
    request.upload = file
  })
}

/** Removes a file whose call failed or was a replay; after a 5xx it may have been recorded. */
export async function removeUnusedFile(
  { runtime, request }: Invocation,
  { status, headers }: Response,
): Promise<void> {
  if (request.upload === undefined) return
  const isUnused = 'Idempotent-Replayed' in headers || (status >= 400 && status < 500)
  if (isUnused) await runtime.blobs.remove(request.upload.id)
}
