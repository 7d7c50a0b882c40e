import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type { ActivityEvent } from '#contract/activity.ts'
import { fieldProblem } from '#contract/common_problems.ts'
import { Problem } from '#contract/problem.ts'
import type { Caller } from '#domain/context/context.ts'
import { bearerOf } from '#doors/bearer.ts'
import { requireNoQuery, searchOf } from '#doors/read_input.ts'
import { requestContextOf } from '#doors/request_context.ts'
import { isId } from '#kernel/id.ts'
import type { Call } from '#operations/call.ts'
import { invoke } from '#operations/invoke.ts'
import { refusalAnswer } from '#operations/refusal.ts'
import type { Runtime } from '#operations/runtime.ts'
import { Follower } from './follower.ts'
import { send } from './send.ts'

const ACTIVITY_STREAM = '/v1/activity/stream'

/** A browser's tabs and a few scripts; whoever wants more has lost count of them. */
const STREAMS_MAX = { credential: 10, account: 50 } as const
/** Proxies close what is silent for a minute. */
const BEAT_MS = 15_000

/**
 * The activity stream as it happens, as server-sent events. No operation: whoever may call
 * get_activity may follow it, and sees the same rows.
 */
export function mountActivityStream(app: FastifyInstance, runtime: Runtime): void {
  const open = new Set<Follower>()
  const stopBeat = runtime.clock.every(BEAT_MS, () => {
    for (const follower of open) follower.beat()
  })
  let closing = false
  app.addHook('preClose', async () => {
    closing = true
    stopBeat()
    for (const follower of open) follower.end()
  })
  app.route({
    method: 'GET',
    url: ACTIVITY_STREAM,
    exposeHeadRoute: false,
    handler: async (request, reply) => {
      const call = openingOf(runtime, request)
      const answer = await invoke(runtime, call)
      if (answer.status !== 200) return send(runtime, reply, call, answer)
      const caller = await runtime.credentials.callerOf(call.bearer ?? '')
      if (hasTooMany(open, caller)) {
        const refused = refusalAnswer(tooMany(), call.request.id)
        Object.assign(refused.headers, answer.headers)
        return send(runtime, reply, call, refused)
      }
      const [newest] = (JSON.parse(answer.body) as { data: ActivityEvent[] }).data
      beginStream(reply, { ...answer.headers, 'Request-Id': call.request.id })
      const after = lastHeard(request) ?? newest?.id ?? ''
      const follower = new Follower(runtime, { caller, call, after, sink: reply.raw })
      if (closing) follower.end()
      open.add(follower)
      reply.raw.once('close', () => {
        open.delete(follower)
        follower.end()
      })
      return reply
    },
  })
}

/** Asked like any call: who it is, whether it may, within its rate; and where the stream stands. */
function openingOf(runtime: Runtime, request: FastifyRequest): Call {
  return {
    operation: 'get_activity',
    bearer: bearerOf(request.headers.authorization),
    request: requestContextOf(runtime, request),
    readInput: () => {
      requireNoQuery(Object.fromEntries(new URLSearchParams(searchOf(request.url))))
      lastHeard(request)
      return { limit: 1 }
    },
  }
}

function lastHeard({ headers }: FastifyRequest): string | null {
  const id = headers['last-event-id']
  if (id === undefined || id === '') return null
  if (typeof id === 'string' && isId('evt', id)) return id
  throw fieldProblem('invalid_request', 'Last-Event-ID', 'must be an event ID')
}

function hasTooMany(open: ReadonlySet<Follower>, { account_id, id }: Caller): boolean {
  const ofAccount = [...open].filter(({ caller }) => caller.account_id === account_id)
  const ofCredential = ofAccount.filter(({ caller }) => caller.id === id)
  return ofAccount.length >= STREAMS_MAX.account || ofCredential.length >= STREAMS_MAX.credential
}

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
    // Some proxies would keep the first lines until there are many.
    'X-Accel-Buffering': 'no',
  })
}
