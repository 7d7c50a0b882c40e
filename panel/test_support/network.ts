import assert from 'node:assert/strict'
import type { TestContext } from 'node:test'
import { Compile } from 'typebox/compile'
import { inputLocation, type Operation } from '#contract/operation.ts'
import { type InputOfName, type OperationName, operations } from '#contract/operations.ts'
import {
  type OperatorInput,
  type OperatorOperationName,
  operator_operations,
} from '#contract/operator/operations.ts'
import { operator_sign_in } from '#contract/operator/system.ts'
import { type ProblemCode, type ProblemDetail, problem_statuses } from '#contract/problem.ts'
import { readQuery } from '#doors/query.ts'
import { validateInput } from '#operations/steps/parse_input.ts'
import type { AnyOperationName, OutputOf } from './samples.ts'

/** A response that is not a success. */
class Refusal {
  readonly code: ProblemCode
  readonly message: string
  readonly details: readonly ProblemDetail[]

  constructor(code: ProblemCode, message: string, details: readonly ProblemDetail[]) {
    this.code = code
    this.message = message
    this.details = details
  }
}

/** With fields, the refusal is about them: `refuse('invalid_request', { name: 'is required' })`. */
export function refuse(
  code: ProblemCode,
  message: string | Readonly<Record<string, string>> = 'The service refused this.',
): Refusal {
  if (typeof message === 'string') return new Refusal(code, message, [])
  const details = Object.entries(message).map(([field, text]) => ({ field, message: text }))
  const [first] = details
  return new Refusal(code, `${first?.field} ${first?.message}.`, details)
}

/** An answer that does not arrive while the test runs. */
export const no_response = Symbol('no response')

type InputOf<Name> = Name extends OperationName
  ? InputOfName<Name>
  : Name extends OperatorOperationName
    ? OperatorInput<Name>
    : never
type Awaitable<Value> = Value | Promise<Value>
type OutputOrRefusal<Output> = Output | Refusal | typeof no_response
type Answer<Input, Output> =
  | OutputOrRefusal<Output>
  | ((input: Input) => Awaitable<OutputOrRefusal<Output>>)

/** By operation, or by method and path for routes outside the contract. */
export type Answers = {
  [Name in AnyOperationName]?: Answer<InputOf<Name>, OutputOf<Name>>
} & {
  operator_sign_in?: Answer<{ totp_code: string }, { bearer: string; expires_at: string }>
} & { [route: `${string} /${string}`]: Answer<Record<string, unknown>, unknown> }

type Call = { name: string; input: Record<string, unknown>; headers: Headers }

export type Service = {
  calls: readonly Call[]
  /** The inputs of all calls of this operation or route, oldest first. */
  sent(name: keyof Answers): Record<string, unknown>[]
  /** Replaces or adds answers. */
  answer(changed: Answers): void
}

const by_prefix: readonly (readonly [
  prefix: string,
  shapes: Readonly<Record<string, Operation>>,
])[] = [
  ['/operator/v1', { ...operator_operations, operator_sign_in }],
  ['/v1', operations],
]

/** Requests that have not been answered yet, of all tests: a page is settled without them. */
let open_requests = 0
export const hasOpenRequests = (): boolean => open_requests > 0

/**
 * Answers the panel's requests in place of the network. Requests and answers must be valid by the
 * contract, as the service itself checks them; a request without an answer fails the test.
 */
export function serve(t: TestContext, answers: Answers): Service {
  const calls: Call[] = []
  const faults: string[] = []
  let current: Answers = answers
  const network = globalThis.fetch

  globalThis.fetch = async (target, options = {}) => {
    const url = new URL(String(target), 'http://localhost')
    const { signal } = options
    const headers = new Headers(options.headers)
    const is_json = headers.get('content-type') === 'application/json'
    const body = is_json ? await bodyOf(options.body) : ''
    const request = { url, method: options.method ?? 'GET', body }
    const call = { ...orFault(() => readCall(request, current)), headers }
    calls.push(call)
    const answer = (current as Record<string, unknown>)[call.name]
    if (answer === undefined) faults.push(`There is no answer for ${call.name}.`)
    open_requests += 1
    try {
      const given = await (typeof answer === 'function' ? answer(call.input) : answer)
      if (given === no_response) return await unanswered(signal ?? null)
      return toResponse(call, given)
    } catch (cause) {
      if (cause instanceof assert.AssertionError) faults.push(cause.message)
      throw cause
    } finally {
      open_requests -= 1
    }
  }

  /** The page shows it as an error of the network, so the test must report it. */
  const orFault = <Value>(read: () => Value): Value => {
    try {
      return read()
    } catch (cause) {
      faults.push(`The service would refuse a request: ${(cause as Error).message}`)
      throw cause
    }
  }

  /** It does not count as open, so that the page settles. */
  const unanswered = (signal: AbortSignal | null): Promise<never> =>
    new Promise((_resolve, reject) => {
      open_requests -= 1
      signal?.addEventListener('abort', () => {
        open_requests += 1
        reject(signal.reason as Error)
      })
    })
  t.after(() => {
    globalThis.fetch = network
    assert.deepEqual(faults, [])
  })
  return {
    calls,
    sent: (name) => calls.filter((call) => call.name === name).map(({ input }) => input),
    answer: (changed) => {
      current = { ...current, ...changed }
    },
  }
}

type Request = { url: URL; method: string; body: string }

async function bodyOf(body: RequestInit['body']): Promise<string> {
  return body === undefined || body === null ? '' : await new Response(body).text()
}

function readCall(request: Request, answers: Answers): Pick<Call, 'name' | 'input'> {
  const { url, method, body } = request
  const route = `${method} ${url.pathname}`
  if (!(route in answers)) {
    const found = findOperation(request, answers)
    if (found !== undefined) return found
  }
  const query = Object.fromEntries(url.searchParams)
  return { name: route, input: { ...query, ...(body !== '' && JSON.parse(body)) } }
}

/** Of operations that share a route, it is the one that the test responds to. */
function findOperation(
  { url, method, body }: Request,
  answers: Answers,
): Pick<Call, 'name' | 'input'> | undefined {
  const [prefix, shapes] = by_prefix.find(([each]) => url.pathname.startsWith(`${each}/`)) ?? [
    '',
    {},
  ]
  const path = url.pathname.slice(prefix.length)
  const matching = Object.values(shapes)
    .map((shape) => ({ shape, params: matchPath(shape.path, path) }))
    .filter(({ shape, params }) => shape.method === method && params !== null)
  // A path without parameters is more specific: /accounts/me before /accounts/{id}.
  const { shape, params } =
    matching.find((each) => (answers as Record<string, unknown>)[each.shape.name] !== undefined) ??
    matching.find((each) => !each.shape.path.includes('{')) ??
    matching[0] ??
    {}
  if (shape === undefined) return undefined
  const fields =
    inputLocation(shape) === 'query' ? readQuery(shape, url.search) : JSON.parse(body || '{}')
  const given = { ...fields, ...params }
  const { input, refusal } = validateInput(shape, structuredClone(given))
  assert.equal(refusal?.message, undefined, `the service would refuse this ${shape.name}`)
  return { name: shape.name, input }
}

function matchPath(pattern: string, path: string): Record<string, string> | null {
  const source = pattern.replaceAll(/\{(\w+)\}/g, '(?<$1>[^/]+)')
  const match = new RegExp(`^${source}$`).exec(path)
  return match === null ? null : { ...match.groups }
}

function toResponse({ name }: Call, given: unknown): Response {
  const headers = { 'content-type': 'application/json', 'request-id': 'req_1' }
  if (given instanceof Response) return given
  if (given instanceof Refusal) {
    const { code, message, details } = given
    const body = {
      error: code,
      message,
      request_id: 'req_1',
      ...(details.length > 0 && { details }),
    }
    return new Response(JSON.stringify(body), { status: problem_statuses[code], headers })
  }
  const shape = by_prefix.map(([, shapes]) => shapes[name]).find((each) => each !== undefined)
  if (shape !== undefined) assertValid(shape, given)
  const is_empty = shape?.status === 204 || given === undefined || given === null
  return new Response(is_empty ? null : JSON.stringify(given), {
    status: is_empty ? 204 : 200,
    headers,
  })
}

const validators = new Map<string, ReturnType<typeof Compile>>()

/** A sample that the service could not have sent would prove nothing. */
function assertValid({ name, output, status }: Operation, given: unknown): void {
  if (status === 204) return
  const validator = validators.get(name) ?? Compile(output)
  validators.set(name, validator)
  if (validator.Check(given)) return
  const [first] = validator.Errors(given)
  assert.fail(`the answer of ${name} is not valid: ${JSON.stringify(first)}`)
}
