import { inputLocation, pathNames } from '#contract/operation.ts'
import type { Route } from '#contract/routes.ts'

/** An HTTP request without its headers for authentication, idempotency and payment. */
export type HttpRequest = {
  method: Route['method']
  /** Path and query, beginning with /v1. */
  target: string
  content_type?: string
  /** Called for each attempt, because a stream can be read only once. */
  createBody?: (onSent?: () => void) => Body
  /** How much of the body was sent is not known, so the attempt has no deadline. */
  isUnobserved?: boolean
  /** The body cannot be created again, so there is only one attempt. */
  isSingleUse?: boolean
}

export type Body = NonNullable<RequestInit['body']>

export type Fields = Readonly<Record<string, unknown>>

/** Puts each input field into the path, the query or the body. */
export function buildRequest(route: Route, input: Fields): HttpRequest {
  const { path, rest } = fillPath(route.path, input)
  const { method } = route
  if (inputLocation(route) === 'query') return { method, target: path + buildQuery(rest) }
  const body = JSON.stringify(rest)
  // Some operations accept no body at all (enable_2fa without a code).
  if (body === '{}') return { method, target: path }
  return { method, target: path, createBody: () => body, content_type: 'application/json' }
}

export function fillPath(path: string, input: Fields): { path: string; rest: Fields } {
  const names = pathNames(path)
  const filled = names.reduce(
    (made, name) => made.replace(`{${name}}`, encodePathValue(input, name)),
    path,
  )
  const rest = Object.entries(input).filter(([name]) => !names.includes(name))
  return { path: `/v1${filled}`, rest: Object.fromEntries(rest) }
}

/** An empty ID or dots would change the path and reach another route. */
function encodePathValue(input: Fields, name: string): string {
  const value = input[name]
  if (typeof value !== 'string' || /^\.{0,2}$/.test(value)) {
    throw new TypeError(`"${name}" is missing or not a valid ID.`)
  }
  return encodeURIComponent(value)
}

export function buildQuery(fields: Fields): string {
  const sent = Object.entries(fields).filter(([, value]) => value !== undefined)
  const words = sent.map(([name, value]) => [name, String(value)] as const)
  const query = new URLSearchParams(Object.fromEntries(words))
  return sent.length === 0 ? '' : `?${query}`
}
