import type { FastifyReply } from 'fastify'
import { notFound } from '#contract/common_problems.ts'
import type { Evidence } from '#contract/disputes.ts'
import type { Runtime } from '#operations/runtime.ts'

/**
 * Sends an uploaded file as an attachment: a browser saves it and never shows it. Its type is the
 * one that was detected from its content, and nothing in it may run or load.
 */
export async function sendEvidence(
  { blobs }: Runtime,
  reply: FastifyReply,
  evidence: readonly Evidence[],
  id: string,
): Promise<FastifyReply> {
  const piece = evidence.find((one) => one.id === id)
  const file = piece?.sha256 ? await blobs.open(piece.id) : null
  if (piece === undefined || file === null) {
    throw notFound('file')
  }
  const charset = piece.content_type === 'text/plain' ? '; charset=utf-8' : ''
  return reply
    .headers({
      'Content-Type': `${piece.content_type}${charset}`,
      'Content-Length': String(file.size_bytes),
      'Content-Disposition': disposition(piece.file_name ?? piece.id),
      'Content-Security-Policy': "default-src 'none'; sandbox",
      'X-Content-Type-Options': 'nosniff',
      'Cross-Origin-Resource-Policy': 'same-origin',
      'Cache-Control': 'private, no-store',
    })
    .send(file.bytes)
}

/** RFC 6266: a plain name for old readers, the real one for the others. */
function disposition(name: string): string {
  const plain = name.replaceAll(/[^\w.-]/g, '_')
  const exact = encodeURIComponent(name).replaceAll(
    /['()*]/g,
    (letter) => `%${letter.charCodeAt(0).toString(16).toUpperCase()}`,
  )
  return `attachment; filename="${plain}"; filename*=UTF-8''${exact}`
}
