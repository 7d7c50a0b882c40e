import type { FastifyInstance, FastifyReply, FastifyRequest, HTTPMethods } from 'fastify'
import type { OperationShape } from '#contract/operation.ts'
import { type OperationName, operations } from '#contract/operations.ts'
import type { BodyConfig } from '#doors/read_body.ts'
import { readInput, searchOf } from '#doors/read_input.ts'
import { requestContextOf } from '#doors/request_context.ts'
import { bearerOf } from '#kernel/bearer.ts'
import type { Call } from '#operations/call.ts'
import { invoke } from '#operations/invoke.ts'
import type { Runtime } from '#operations/runtime.ts'
import { mountActivityStream } from './activity_stream.ts'
import { mountEvidenceFiles } from './evidence_file.ts'
import { send } from './send.ts'
import { mountStatementFiles } from './statement_file.ts'
import { serveUpload, takeStreams } from './upload.ts'

const BASE = '/v1'

/** All operations as routes, from the contract. */
export function mountRest(app: FastifyInstance, runtime: Runtime): void {
  for (const choices of byRoute()) mountRoute(app, runtime, choices)
  mountActivityStream(app, runtime)
  mountEvidenceFiles(app, runtime)
  mountStatementFiles(app, runtime)
}

type Choices = readonly [OperationShape, ...OperationShape[]]

/** The operations of each method and path: more than one if there are variants. */
function byRoute(): Iterable<Choices> {
  const routes = new Map<string, [OperationShape, ...OperationShape[]]>()
  for (const operation of Object.values<OperationShape>(operations)) {
    const key = `${operation.method} ${operation.path}`
    const choices = routes.get(key)
    if (choices === undefined) routes.set(key, [operation])
    else choices.push(operation)
  }
  return routes.values()
}

function mountRoute(app: FastifyInstance, runtime: Runtime, choices: Choices): void {
  const [{ method, path, access, name }] = choices
  const config: BodyConfig = access === 'anyone' ? {} : { bearer: 'rest' }
  const route = {
    method: method as HTTPMethods,
    url: BASE + path.replaceAll(/\{(\w+)\}/g, ':$1'),
    exposeHeadRoute: false,
  }
  if (name === 'add_dispute_evidence') {
    app.register(async (scope) => {
      takeStreams(scope, runtime)
      scope.route({
        ...route,
        config: { ...config, streams: true } as object,
        handler: (request, reply) => serveUpload(runtime, request, reply),
      })
    })
    return
  }
  app.route({
    ...route,
    config: config as object,
    handler: (request, reply) => serve(runtime, choices, request, reply),
  })
}

async function serve(
  runtime: Runtime,
  choices: Choices,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<FastifyReply> {
  const search = searchOf(request.url)
  const operation = choose(choices, search)
  const call: Call = {
    operation: operation.name as OperationName,
    bearer: bearerOf(request.headers.authorization),
    request: requestContextOf(request),
    readInput: () => readInput(operation, request),
  }
  return send(runtime, reply, call, await invoke(runtime, call))
}

/** A variant is chosen if its own required fields are sent. */
function choose(choices: Choices, search: string): OperationShape {
  const [base] = choices
  if (choices.length === 1) return base
  const sent = new URLSearchParams(search)
  const variant = choices.find(
    ({ variant_of, input }) =>
      variant_of !== undefined && (input.required ?? []).every((name) => sent.has(name)),
  )
  return variant ?? base
}
