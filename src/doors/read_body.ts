import type { IncomingMessage } from 'node:http'
import type { FastifyRequest } from 'fastify'
import { Problem } from '#contract/problem.ts'

export const BODY_BYTES_MAX = 26_214_400

export const tooLarge = () => new Problem('payload_too_large', 'A body may have at most 25 MB.')

type Done = (cause: Error | null, body?: Buffer) => void

/**
 * The bytes of a body, for a route that takes them before the framework does. Most are one chunk,
 * which is passed on as it came, not copied.
 */
export function readBody(request: FastifyRequest, payload: IncomingMessage, done: Done): void {
  const chunks: Buffer[] = []
  let size = 0
  let isOver = false
  const end = (cause: Error | null) => {
    if (isOver) return
    isOver = true
    if (cause !== null) done(cause)
    else done(null, chunks.length === 1 ? chunks[0] : Buffer.concat(chunks, size))
  }
  if (Number(request.headers['content-length']) > BODY_BYTES_MAX) end(tooLarge())
  // Also what is refused already is let run out: the answer is sent on the same connection.
  payload.on('data', (chunk: Buffer) => {
    size += chunk.length
    if (size > BODY_BYTES_MAX) end(tooLarge())
    else if (!isOver) chunks.push(chunk)
  })
  payload.on('end', () => end(null))
  payload.on('error', end)
}
