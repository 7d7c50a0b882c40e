import { inputLocation, pathNames } from '#contract/operation.ts'
import type { Route } from '#contract/routes.ts'

/** What goes out, apart from who sends it and how often. */
export type Message = {
  method: Route['method']
  /** Path and query, from /v1 on. */
  target: string
  content_type?: string
  /** Made anew for each attempt: a stream can be read only once. */
  makeBody?: () => Body
  /** True where it cannot be made anew, so that there is one attempt. */
  isOnce?: boolean
}

export type Body = NonNullable<RequestInit['body']>

export type Fields = Readonly<Record<string, unknown>>

/** Where each field of an input travels: in the path, in the query or in the body. */
export function messageOf(route: Route, input: Fields): Message {
  const { path, rest } = inPath(route.path, input)
  const { method } = route
  if (inputLocation(route) === 'query') return { method, target: path + queryOf(rest) }
  const body = JSON.stringify(rest)
  // Some take no body at all (enable_2fa to begin with), and nothing to say is said as nothing.
  if (body === '{}') return { method, target: path }
  return { method, target: path, makeBody: () => body, content_type: 'application/json' }
}

export function inPath(path: string, input: Fields): { path: string; rest: Fields } {
  const names = pathNames(path)
  const filled = names.reduce((made, name) => made.replace(`{${name}}`, encoded(input, name)), path)
  const rest = Object.entries(input).filter(([name]) => !names.includes(name))
  return { path: `/v1${filled}`, rest: Object.fromEntries(rest) }
}

/** An empty id, or dots, would mean another path: the list instead of the thing. */
function encoded(input: Fields, name: string): string {
  const value = input[name]
  if (typeof value !== 'string' || /^\.{0,2}$/.test(value)) {
    throw new TypeError(`${name} is missing.`)
  }
  return encodeURIComponent(value)
}

export function queryOf(fields: Fields): string {
  const sent = Object.entries(fields).filter(([, value]) => value !== undefined)
  const words = sent.map(([name, value]) => [name, String(value)] as const)
  const query = new URLSearchParams(Object.fromEntries(words))
  return sent.length === 0 ? '' : `?${query}`
}
