import type { IncomingMessage } from 'node:http'
import type { FastifyRequest } from 'fastify'
import { Problem } from '#contract/problem.ts'

export const BODY_BYTES_MAX = 26_214_400

export const tooLarge = () => new Problem('payload_too_large', 'A body may have at most 25 MB.')

/**
 * The bytes of a body, for a route that takes them before the framework does. Most come whole with
 * their heads: those are there once the route has returned, before their stream tells of them.
 */
export function readBody({ raw }: FastifyRequest): Buffer | Promise<Buffer> {
  const length = Number(raw.headers['content-length'])
  if (length === 0 || raw.readableLength !== length) return gathered(raw, length)
  const body = raw.read() as Buffer
  // Its end is taken too: nothing of it may stand before the next request.
  raw.resume()
  return body
}

function gathered(raw: IncomingMessage, length: number): Promise<Buffer> {
  const chunks: Buffer[] = []
  let size = 0
  let isRefused = false
  return new Promise((resolve, reject) => {
    const refuse = (cause: Error) => {
      isRefused = true
      reject(cause)
    }
    if (length > BODY_BYTES_MAX) refuse(tooLarge())
    // Also what is refused is let run out: whoever is cut off while sending reads no answer.
    raw.on('data', (chunk: Buffer) => {
      size += chunk.length
      if (size > BODY_BYTES_MAX) refuse(tooLarge())
      else if (!isRefused) chunks.push(chunk)
    })
    raw.on('end', () => {
      if (!isRefused) resolve(Buffer.concat(chunks, size))
    })
    raw.on('error', refuse)
  })
}
