import type { IncomingMessage, Server, ServerResponse } from 'node:http'
import type { FastifyRequest } from 'fastify'
import { BODY_BYTES_MAX } from '#contract/byte_limits.ts'
import { Problem } from '#contract/problem.ts'
import { operatorOf } from '#domain/operators/operator_token.ts'
import { networkOf } from '#domain/risk/rate_limit.ts'
import { bearerOf } from '#kernel/bearer.ts'
import { runtimeOfBearer } from '#operations/cells.ts'
import type { Runtime } from '#operations/runtime.ts'
import { callerOf } from '#operations/steps/authenticate.ts'
import { limitRate, rateSubjectOf } from '#operations/steps/limit_rate.ts'
import type { Share } from '#platform/runtime/byte_budget.ts'

/** Without a valid bearer, and on routes that take none. */
export const STRANGER_BYTES_MAX = 65_536

/** The kind of bearer that allows a large body; without it, a route accepts 64 KB from anyone. */
export type BodyConfig = { bearer?: 'rest' | 'mcp' | 'operator' }

/** The responses of requests that have a body: it is held in memory until they are sent. */
const responses = new WeakMap<IncomingMessage, ServerResponse>()

export function followResponses(server: Server): void {
  server.prependListener('request', (request, response) => responses.set(request, response))
}

/**
 * The bytes of a body, with the bearer checked before a large one is read. Most bodies are small
 * and arrive with their headers; these need no accounting, which would cost 10 % of a refused POST
 * and 30 % of an MCP call (`npm run bench -- http` and `mcp`).
 */
export async function readBody(runtime: Runtime, request: FastifyRequest): Promise<Buffer> {
  // Lets the HTTP parser process the bytes that arrived with the headers.
  await null
  const { raw } = request
  const length = Number(raw.headers['content-length'] ?? Number.NaN)
  if (length > 0 && length <= STRANGER_BYTES_MAX && raw.readableLength === length) {
    const body = raw.read() as Buffer
    // Consumes the end of the body too, so that nothing remains before the next request.
    raw.resume()
    return body
  }
  const sender = await senderOf(runtime, request, length)
  return collectBody(runtime, raw, { ...sender, length }).catch(async (cause: unknown) => {
    // An unknown bearer sent with a large body counts as a guess.
    if (sender.share.group === 'stranger') await countAttempt(runtime, request)
    throw cause
  })
}

type Sender = { share: Share; limit: number }

/** A small body is accepted before its sender is authenticated: the pipeline does that. */
async function senderOf(
  runtime: Runtime,
  request: FastifyRequest,
  length: number,
): Promise<Sender> {
  const { bearer: kind } = request.routeOptions.config as BodyConfig
  const bearer = bearerOf(request.headers.authorization)
  const stranger: Sender = {
    share: { group: 'stranger', holder: networkOf(request.ip) },
    limit: STRANGER_BYTES_MAX,
  }
  if (kind === undefined || bearer === null || length <= STRANGER_BYTES_MAX) return stranger
  try {
    const holder = await holderOf(runtime, kind, bearer)
    return { share: { group: 'caller', holder }, limit: BODY_BYTES_MAX }
  } catch (cause) {
    if (cause instanceof Problem && cause.status === 401) return stranger
    throw cause
  }
}

async function holderOf(
  runtime: Runtime,
  kind: NonNullable<BodyConfig['bearer']>,
  bearer: string,
): Promise<string> {
  if (kind !== 'operator') {
    const cell = runtimeOfBearer(runtime, bearer)
    return (await callerOf(cell, { bearer, resource: kind })).account_id
  }
  return (await operatorOf(bearer, { ...runtime, now: runtime.clock.now() })).id
}

async function countAttempt(runtime: Runtime, { ip }: FastifyRequest): Promise<void> {
  await limitRate(runtime, rateSubjectOf(runtime, { ip }))
}

function collectBody(
  { body_bytes }: Runtime,
  raw: IncomingMessage,
  { share, limit, length }: Sender & { length: number },
): Promise<Buffer> {
  const chunks: Buffer[] = []
  let size = 0
  let refusal: Problem | null = null
  return new Promise((resolve, reject) => {
    const release = () => {
      body_bytes.release(share, size)
      size = 0
    }
    const refuse = (cause: Problem) => {
      refusal = cause
      chunks.length = 0
      release()
      reject(cause)
    }
    if (length > limit) refuse(tooLarge(limit))
    // A refused body is read and discarded: a sender that is cut off reads no response.
    raw.on('data', (chunk: Buffer) => {
      if (refusal !== null) return
      if (size + chunk.length > limit) return refuse(tooLarge(limit))
      if (!body_bytes.take(share, chunk.length)) return refuse(noRoom())
      size += chunk.length
      chunks.push(chunk)
    })
    raw.on('end', () => {
      if (refusal === null) resolve(Buffer.concat(chunks, size))
    })
    raw.on('error', reject)
    responses.get(raw)?.once('close', release)
  })
}

function tooLarge(limit: number): Problem {
  const sentence =
    limit === BODY_BYTES_MAX
      ? 'The request body is larger than 25 MB.'
      : 'Without a valid credential the request body can be at most 64 KB.'
  return new Problem('payload_too_large', sentence)
}

function noRoom(): Problem {
  const sentence = 'Too many large requests at the same time. Try again in a moment.'
  return new Problem('service_unavailable', sentence, { retry_after_s: 1 })
}
