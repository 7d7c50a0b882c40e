import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type { ActivityEvent } from '#contract/activity.ts'
import { fieldProblem } from '#contract/common_problems.ts'
import { Problem } from '#contract/problem.ts'
import type { Caller } from '#domain/context/context.ts'
import { requireNoQuery, searchOf } from '#doors/read_input.ts'
import { requestContextOf } from '#doors/request_context.ts'
import { bearerOf } from '#kernel/bearer.ts'
import { idFloor, isId } from '#kernel/id.ts'
import type { Call } from '#operations/call.ts'
import { runtimeOfBearer } from '#operations/cells.ts'
import { invoke } from '#operations/invoke.ts'
import { problemResponse } from '#operations/problem_response.ts'
import type { Runtime } from '#operations/runtime.ts'
import type { OpenLimit } from '#platform/runtime/open_counts.ts'
import { Follower } from './follower.ts'
import { send } from './send.ts'

const ACTIVITY_STREAM = '/v1/activity/stream'

/** Enough for a browser's tabs and a few scripts. */
const STREAMS_MAX = { credential: 10, account: 50 } as const
/** Proxies close connections that are idle for a minute. */
const KEEP_ALIVE_MS = 15_000
/** The stream of an account without events begins after this ID. */
const BEFORE_ALL = idFloor('evt', 0)

/**
 * The activity stream as server-sent events. Anyone who may call get_activity may open it, and sees
 * the same rows.
 */
export function mountActivityStream(app: FastifyInstance, runtime: Runtime): void {
  const open = new Set<Follower>()
  const stopKeepAlive = runtime.clock.every(KEEP_ALIVE_MS, () => {
    for (const follower of open) follower.keepAlive()
  })
  let closing = false
  app.addHook('preClose', async () => {
    closing = true
    stopKeepAlive()
    for (const follower of open) follower.end()
  })
  app.route({
    method: 'GET',
    url: ACTIVITY_STREAM,
    exposeHeadRoute: false,
    handler: async (request, reply) => {
      const call = openingOf(request)
      const response = await invoke(runtime, call)
      if (response.status !== 200) return send(runtime, reply, call, response)
      const cell = runtimeOfBearer(runtime, call.bearer)
      const caller = await cell.credentials.callerOf(call.bearer ?? '')
      const limits = limitsOf(caller)
      if (!(await runtime.open_streams.open(limits))) {
        const refusal = problemResponse(tooMany(), call.request.id)
        Object.assign(refusal.headers, response.headers)
        return send(runtime, reply, call, refusal)
      }
      if (reply.raw.destroyed) {
        // The client hung up while its stream was counted, and `close` is over.
        runtime.open_streams.close(limits)
        return reply.hijack()
      }
      const [newest] = (JSON.parse(response.body) as { data: ActivityEvent[] }).data
      beginStream(reply, { ...response.headers, 'Request-Id': call.request.id })
      const after = lastEventId(request) ?? newest?.id ?? BEFORE_ALL
      const follower = new Follower(cell, { caller, call, after, sink: reply.raw })
      if (closing) follower.end()
      open.add(follower)
      reply.raw.once('close', () => {
        open.delete(follower)
        follower.end()
        runtime.open_streams.close(limits)
      })
      return reply
    },
  })
}

/** Opening a stream is a call of get_activity, which also finds the newest event. */
function openingOf(request: FastifyRequest): Call {
  return {
    operation: 'get_activity',
    bearer: bearerOf(request.headers.authorization),
    request: requestContextOf(request),
    readInput: () => {
      requireNoQuery(Object.fromEntries(new URLSearchParams(searchOf(request.url))))
      lastEventId(request)
      return { limit: 1 }
    },
  }
}

function lastEventId({ headers }: FastifyRequest): string | null {
  const id = headers['last-event-id']
  if (id === undefined || id === '') return null
  if (typeof id === 'string' && isId('evt', id)) return id
  throw fieldProblem('invalid_request', 'Last-Event-ID', 'must be an event ID')
}

/** An OAuth client may act for many accounts; each has its own limit. */
const limitsOf = ({ account_id, id }: Caller): OpenLimit[] => [
  { key: account_id, limit: STREAMS_MAX.account },
  { key: `${account_id}|${id}`, limit: STREAMS_MAX.credential },
]

function tooMany(): Problem {
  const { credential, account } = STREAMS_MAX
  const sentence = `Limit reached: ${credential} streams per credential, ${account} per account.`
  return new Problem('rate_limited', `${sentence} Close one first.`, { retry_after_s: 5 })
}

function beginStream(reply: FastifyReply, headers: Record<string, string>): void {
  reply.hijack()
  reply.raw.writeHead(200, {
    ...headers,
    'Content-Type': 'text/event-stream; charset=utf-8',
    'Cache-Control': 'no-store',
    // Some proxies would buffer the first lines.
    'X-Accel-Buffering': 'no',
  })
}
