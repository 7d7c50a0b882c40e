import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { EVIDENCE_BYTES_MAX } from '#contract/byte_limits.ts'
import { operations } from '#contract/operations.ts'
import { Problem } from '#contract/problem.ts'
import { storeEvidenceFile, tooLarge } from '#domain/disputes/store_evidence_file.ts'
import { readQuery } from '#doors/query.ts'
import { readBody } from '#doors/read_body.ts'
import { readInput, requireNoQuery, searchOf } from '#doors/read_input.ts'
import { requestContextOf } from '#doors/request_context.ts'
import { bearerOf } from '#kernel/bearer.ts'
import type { Call, Response } from '#operations/call.ts'
import { runtimeOfBearer } from '#operations/cells.ts'
import { invoke } from '#operations/invoke.ts'
import type { Runtime } from '#operations/runtime.ts'
import { IdleTimeout, withIdleTimeout } from '#platform/runtime/idle_timeout.ts'
import { readForm } from './form.ts'
import { boundaryOf, MultipartError } from './multipart.ts'
import { send } from './send.ts'

const operation = operations.add_dispute_evidence

/** JSON is read whole; everything else is streamed, whatever its size. */
export function takeStreams(scope: FastifyInstance, runtime: Runtime): void {
  scope.removeAllContentTypeParsers()
  scope.addContentTypeParser(/^application\/([\w.-]+\+)?json/, (request: FastifyRequest) =>
    readBody(runtime, request),
  )
  scope.addContentTypeParser('*', (_request, payload, done) => done(null, payload))
}

/** A call whose input may be a stream, read only after the caller's access was checked. */
export async function serveUpload(
  home: Runtime,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<FastifyReply> {
  const bearer = bearerOf(request.headers.authorization)
  const runtime = runtimeOfBearer(home, bearer)
  const request_context = requestContextOf(request)
  const call: Call = {
    operation: operation.name,
    bearer,
    request: request_context,
    readInput: async () => {
      if (Buffer.isBuffer(request.body) || request.body === undefined) {
        return readInput(operation, request)
      }
      return readStream(runtime, request, async (source) => {
        const id = runtime.newId('evd', runtime.clock.now())
        request_context.upload = await storeEvidenceFile(runtime.blobs, id, source)
      })
    },
  }
  const response = await invoke(runtime, call)
  if (!request.raw.complete) await discardRest(runtime, request, reply, response)
  return send(runtime, reply, call, response)
}

type Store = (source: AsyncIterable<Uint8Array>) => Promise<void>

async function readStream(
  runtime: Runtime,
  request: FastifyRequest,
  store: Store,
): Promise<Record<string, unknown>> {
  const path = request.params as Record<string, string>
  const content_type = request.headers['content-type'] ?? ''
  requireSize(request)
  const query = readQuery(operation, searchOf(request.url))
  const body = bodyOf(runtime, request)
  try {
    if (!/^multipart\//i.test(content_type)) {
      requireRawQuery(query)
      await store(body)
      return { ...query, ...path }
    }
    requireNoQuery(query)
    const boundary = boundaryOf(content_type)
    if (boundary === null) throw new MultipartError('the boundary is missing or not valid')
    return { ...(await readForm(body, { boundary, store })), ...path }
  } catch (cause) {
    throw problemOfUpload(cause)
  } finally {
    await body.return(undefined)
  }
}

/** The form around the file. */
const FORM_BYTES_MAX = 1_048_576

/** Checked before the first byte is read, if the client sends Content-Length. */
function requireSize({ headers }: FastifyRequest): void {
  const length = Number(headers['content-length'] ?? 0)
  if (length > EVIDENCE_BYTES_MAX + FORM_BYTES_MAX) throw tooLarge()
}

const RAW_QUERY = ['kind', 'file_name', 'note']

function requireRawQuery(query: Record<string, unknown>): void {
  requireNoQuery(Object.fromEntries(Object.entries(query).filter(([name]) => !isRaw(name))))
}

const isRaw = (name: string) => RAW_QUERY.includes(name)

/** The connection stays open when reading stops, for the response. */
function bodyOf({ settings }: Runtime, { raw }: FastifyRequest): AsyncGenerator<Uint8Array> {
  const chunks = raw.iterator({ destroyOnReturn: false })
  return withIdleTimeout(chunks[Symbol.asyncIterator](), settings.upload_idle_seconds * 1_000)
}

function problemOfUpload(cause: unknown): unknown {
  if (cause instanceof IdleTimeout) {
    return new Problem('invalid_request', 'The upload timed out.', { status: 408 })
  }
  if (cause instanceof MultipartError) {
    return new Problem('invalid_request', `The form data is not valid: ${cause.message}.`)
  }
  const isCut = (cause as { code?: unknown } | null)?.code === 'ECONNRESET'
  return isCut
    ? new Problem('invalid_request', 'The connection closed before the whole body arrived.')
    : cause
}

/** Many clients read the response only after they have sent the whole body. */
const LINGER_MS = 10_000

/** Discards the rest of the body for a while, then closes the connection. */
async function discardRest(
  { clock }: Runtime,
  { raw }: FastifyRequest,
  reply: FastifyReply,
  { status }: Response,
): Promise<void> {
  reply.header('Connection', 'close')
  // A client that has stopped sending is waiting for the response.
  if (status === 408 || raw.destroyed) return
  const done = new AbortController()
  for (const sign of ['end', 'close', 'error']) raw.once(sign, () => done.abort())
  raw.resume()
  await clock.sleep(LINGER_MS, done.signal)
}
