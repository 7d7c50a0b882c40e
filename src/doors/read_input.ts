import type { FastifyRequest } from 'fastify'
import { type InputShape, inputLocation } from '#contract/operation.ts'
import { Problem } from '#contract/problem.ts'
import { readJsonBody } from './json_body.ts'
import { readQuery } from './query.ts'

/** Path, query and body of a request as one flat input. */
export async function readInput(shape: InputShape, request: FastifyRequest): Promise<unknown> {
  const query = readQuery(shape, searchOf(request.url))
  const path = request.params as Record<string, string>
  if (inputLocation(shape) === 'query') return Object.assign(query, path)
  requireNoQuery(query)
  const bytes = request.body as Buffer | undefined
  return withPath(path, await readJsonBody(bytes, request.headers['content-type']))
}

function withPath(path: Record<string, string>, body: unknown): unknown {
  if (typeof body !== 'object' || body === null || Array.isArray(body)) return body
  requireNotTwice(path, body)
  return Object.assign(body, path)
}

export function requireNoQuery(query: Record<string, unknown>): void {
  const [name] = Object.keys(query)
  if (name === undefined) return
  throw new Problem('unknown_parameter', `Unknown query parameter: ${name}.`, {
    details: [{ field: name, message: 'is not recognized' }],
  })
}

/** Path parameters must not be repeated in the body, where they could differ. */
export function requireNotTwice(path: Record<string, string>, body: object): void {
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
