import type { FastifyRequest } from 'fastify'
import { type InputShape, inputLocation } from '#contract/operation.ts'
import { Problem, type ProblemDetail } from '#contract/problem.ts'
import { readJsonBody } from './json_body.ts'
import { readQuery } from './query.ts'

/** Path, query and body of a request as one flat input. */
export async function readInput(shape: InputShape, request: FastifyRequest): Promise<unknown> {
  const query = readQuery(shape, searchOf(request.url))
  const path = request.params as Record<string, string>
  if (inputLocation(shape) === 'query') {
    await requireNoBody(request)
    return Object.assign(query, path)
  }
  requireNoQuery(query)
  const bytes = request.body as Buffer | undefined
  return withPath(path, await readJsonBody(bytes, request.headers['content-type']))
}

function withPath(path: Record<string, string>, body: unknown): unknown {
  if (typeof body !== 'object' || body === null || Array.isArray(body)) return body
  requireNotTwice(path, body)
  return Object.assign(body, path)
}

/** Clients that always send a body send an empty object. */
const EMPTY_BODY_BYTES = '{}'.length

/** A filter in the body would be ignored, and all rows returned. */
async function requireNoBody({ method, headers, body }: FastifyRequest): Promise<void> {
  // Fastify does not read the body of a GET.
  if (method === 'GET') {
    const isEmpty = Number(headers['content-length'] ?? 0) <= EMPTY_BODY_BYTES
    if (!isEmpty || 'transfer-encoding' in headers) throw unexpectedBody(method)
    return
  }
  const sent = await readJsonBody(body as Buffer | undefined, headers['content-type'])
  if (typeof sent !== 'object' || sent === null || Array.isArray(sent)) throw unexpectedBody(method)
  const [field] = Object.keys(sent)
  if (field === undefined) return
  throw unexpectedBody(method, [{ field, message: 'is not recognized' }])
}

function unexpectedBody(method: string, details?: readonly ProblemDetail[]): Problem {
  const sentence =
    method === 'GET'
      ? 'A GET request has no body. Send filters as query parameters.'
      : 'This operation takes no body.'
  return new Problem('invalid_request', sentence, details && { details })
}

export function requireNoQuery(query: Record<string, unknown>): void {
  const [name] = Object.keys(query)
  if (name === undefined) return
  throw new Problem('unknown_parameter', `Unknown query parameter: ${name}.`, {
    details: [{ field: name, message: 'is not recognized' }],
  })
}

/** Path parameters must not be repeated in the body, where they could differ. */
function requireNotTwice(path: Record<string, string>, body: object): void {
  const name = Object.keys(path).find((each) => Object.hasOwn(body, each))
  if (name === undefined) return
  throw new Problem('invalid_request', `${name} must be sent in the path, not in the body.`, {
    details: [{ field: name, message: 'is not recognized' }],
  })
}

export function searchOf(url: string): string {
  const at = url.indexOf('?')
  return at < 0 ? '' : url.slice(at + 1)
}
