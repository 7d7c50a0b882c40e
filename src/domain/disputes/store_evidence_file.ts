import { createHash } from 'node:crypto'
import { EVIDENCE_BYTES_MAX } from '#contract/byte_limits.ts'
import { Problem } from '#contract/problem.ts'
import type { StoredFile } from '#domain/context/context.ts'
import type { Blobs } from '#platform/storage/blobs.ts'
import { makeContentSniffer } from './evidence_content.ts'

/**
 * Streams a file into the blob store and counts, hashes and sniffs it on the way; it is never in
 * memory as a whole. A returned file survives a crash; after an exception nothing is stored.
 */
export async function storeEvidenceFile(
  blobs: Blobs,
  id: string,
  source: AsyncIterable<Uint8Array>,
): Promise<StoredFile> {
  const hash = createHash('sha256')
  const sniffer = makeContentSniffer()
  let size_bytes = 0
  async function* checked(): AsyncGenerator<Uint8Array> {
    for await (const chunk of source) {
      size_bytes += chunk.length
      if (size_bytes > EVIDENCE_BYTES_MAX) throw tooLarge()
      if (!sniffer.push(chunk)) throw unsupported()
      hash.update(chunk)
      yield chunk
    }
    if (sniffer.result() === null) throw unsupported()
  }
  await blobs.put(id, checked())
  const content_type = sniffer.result()
  if (content_type === null) throw unsupported()
  return { id, content_type, size_bytes, sha256: hash.digest('hex') }
}

export function tooLarge(): Problem {
  return new Problem('evidence_too_large', 'Evidence files can be at most 100 MB.')
}

function unsupported(): Problem {
  return new Problem(
    'unsupported_media_type',
    'Evidence must be a PDF, PNG, JPEG or WebP file, or plain text in UTF-8.',
  )
}
