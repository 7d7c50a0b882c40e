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
  for (const [path, at_path] of byPath()) {
    const url = BASE + path.replaceAll(/\{(\w+)\}/g, ':$1')
    const by_method = new Map<string, OperationShape[]>()
    for (const operation of at_path) {
      by_method.set(operation.method, [...(by_method.get(operation.method) ?? []), operation])
    }
    for (const [method, choices] of by_method) {
      const config: BodyConfig = choices.some(({ access }) => access === 'anyone')
        ? {}
        : { bearer: 'rest' }
      const route = { method: method as HTTPMethods, url, exposeHeadRoute: false }
      if (choices.some(({ name }) => name === 'add_dispute_evidence')) {
        app.register(async (scope) => {
          takeStreams(scope, runtime)
          scope.route({
            ...route,
            config: { ...config, streams: true } as object,
            handler: (request, reply) => serveUpload(runtime, request, reply),
          })
        })
        continue
      }
      const handler = (request: FastifyRequest, reply: FastifyReply) =>
        serve(runtime, choices, request, reply)
      app.route({ ...route, config: config as object, handler })
    }
  }
  mountActivityStream(app, runtime)
  mountEvidenceFiles(app, runtime)
  mountStatementFiles(app, runtime)
}

function byPath(): Map<string, OperationShape[]> {
  const paths = new Map<string, OperationShape[]>()
  for (const operation of Object.values<OperationShape>(operations)) {
    paths.set(operation.path, [...(paths.get(operation.path) ?? []), operation])
  }
  return paths
}

async function serve(
  runtime: Runtime,
  choices: readonly OperationShape[],
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
