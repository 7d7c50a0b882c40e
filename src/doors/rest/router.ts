import type { FastifyInstance, FastifyReply, FastifyRequest, HTTPMethods } from 'fastify'
import { carrierOf, type OperationShape } from '#contract/operation.ts'
import { type OperationName, operations } from '#contract/operations.ts'
import { Problem } from '#contract/problem.ts'
import { answerProblem } from '#doors/answer.ts'
import { requestFactsOf } from '#doors/request_facts.ts'
import type { Answer, Call } from '#operations/call.ts'
import { invoke } from '#operations/invoke.ts'
import type { Programme } from '#operations/programme.ts'
import { readJsonBody } from './body.ts'
import { readQuery } from './query.ts'

const BASE = '/v1'
const METHODS: readonly HTTPMethods[] = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE']

/** The 52 operations as routes, read off the contract. */
export function mountRest(app: FastifyInstance, programme: Programme): void {
  for (const [path, at_path] of byPath()) {
    const url = BASE + path.replaceAll(/\{(\w+)\}/g, ':$1')
    const served = new Map<string, OperationShape[]>()
    for (const operation of at_path) {
      served.set(operation.method, [...(served.get(operation.method) ?? []), operation])
    }
    for (const [method, choices] of served) {
      app.route({
        method: method as HTTPMethods,
        url,
        exposeHeadRoute: false,
        handler: (request, reply) => serve(programme, choices, request, reply),
      })
    }
    refuseOtherMethods(app, { programme, url, allowed: [...served.keys()] })
  }
}

function byPath(): Map<string, OperationShape[]> {
  const paths = new Map<string, OperationShape[]>()
  for (const operation of Object.values<OperationShape>(operations)) {
    paths.set(operation.path, [...(paths.get(operation.path) ?? []), operation])
  }
  return paths
}

type Refused = { programme: Programme; url: string; allowed: readonly string[] }

function refuseOtherMethods(app: FastifyInstance, { programme, url, allowed }: Refused): void {
  app.route({
    method: METHODS.filter((method) => !allowed.includes(method)),
    url,
    exposeHeadRoute: false,
    handler: (request, reply) => {
      reply.header('Allow', allowed.join(', '))
      const sentence = `${request.method} does not work here; use ${allowed.join(' or ')}.`
      return answerProblem(programme, request, reply, new Problem('method_not_allowed', sentence))
    },
  })
}

async function serve(
  programme: Programme,
  choices: readonly OperationShape[],
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<FastifyReply> {
  const search = searchOf(request.url)
  const operation = choose(choices, search)
  const call: Call = {
    operation: operation.name as OperationName,
    bearer: bearerOf(request.headers.authorization),
    request: requestFactsOf(programme, request),
    readInput: () => readInput(operation, request, search),
  }
  return send(reply, call, await invoke(programme, call))
}

/** A variant is meant when the names that only it requires are there. */
function choose(choices: readonly OperationShape[], search: string): OperationShape {
  const [base] = choices
  if (base === undefined) throw new Error('a route serves at least one operation')
  if (choices.length === 1) return base
  const sent = new URLSearchParams(search)
  const variant = choices.find(
    ({ variant_of, input }) =>
      variant_of !== undefined && (input.required ?? []).every((name) => sent.has(name)),
  )
  return variant ?? base
}

function readInput(operation: OperationShape, request: FastifyRequest, search: string): unknown {
  const query = readQuery(operation, search)
  const path = request.params as Record<string, string>
  if (carrierOf(operation) === 'query') return { ...query, ...path }
  requireNoQuery(query)
  const body = readJsonBody(request.body as Buffer | undefined, request.headers['content-type'])
  if (typeof body !== 'object' || body === null || Array.isArray(body)) return body
  requireNotTwice(path, body)
  return Object.assign(body, path)
}

function requireNoQuery(query: Record<string, unknown>): void {
  const [name] = Object.keys(query)
  if (name === undefined) return
  throw new Problem('unknown_parameter', `There is no parameter ${name} here.`, {
    details: [{ field: name, message: 'is not known here' }],
  })
}

/** What the path says must not be said again, perhaps otherwise, in the body. */
function requireNotTwice(path: Record<string, string>, body: object): void {
  const name = Object.keys(path).find((each) => Object.hasOwn(body, each))
  if (name === undefined) return
  throw new Problem('invalid_request', `${name} belongs into the path, not into the body.`, {
    details: [{ field: name, message: 'is not known here' }],
  })
}

function searchOf(url: string): string {
  const at = url.indexOf('?')
  return at < 0 ? '' : url.slice(at + 1)
}

/** Null without a header; a header of another form is a bearer that nobody has. */
function bearerOf(header: string | undefined): string | null {
  if (header === undefined || header === '') return null
  return /^Bearer +(\S+) *$/i.exec(header)?.[1] ?? ''
}

function send(reply: FastifyReply, call: Call, answer: Answer): FastifyReply {
  const { status, body, headers } = answer
  reply.code(status).headers(headers).header('Request-Id', call.request.id)
  if (status === 401) reply.header('WWW-Authenticate', 'Bearer')
  if (
    operations[call.operation].access === 'anyone' ||
    'never_stored' in operations[call.operation]
  ) {
    reply.header('Cache-Control', 'no-store')
  }
  if (body === '') return reply.send()
  return reply.type('application/json; charset=utf-8').send(body)
}
