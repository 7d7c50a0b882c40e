import { randomUUID } from 'node:crypto'
import { setTimeout as delay } from 'node:timers/promises'
import { Agent, request } from 'undici'
import type { Monitor } from '#test/simulation/monitor.ts'
import type { Random } from '#test/simulation/random.ts'
import type { Trace } from '#test/simulation/trace.ts'
import type { World } from '#test/simulation/world/world.ts'
import type { Answer, Call } from './call.ts'
import { answerOfTool } from './mcp_call.ts'

/** Effects that the service has acknowledged; the checks look for each of them. */
type AcknowledgedWrites = {
  /** Writes by request ID; a repeated call may be a replay, so only first attempts are kept. */
  calls: Map<string, string>
  /** Response codes of card messages by time, MTI and trace number. */
  messages: Map<string, string>
}

/** Sends requests and repeats them on the other node until one is answered, as clients do. */
export type Transport = {
  world: World
  monitor: Monitor
  trace: Trace
  acknowledged: AcknowledgedWrites
  /** One HTTP request with an Idempotency-Key for writes, repeated until it is answered. */
  send(call: Call, random: Random): Promise<Answer>
  /** One attempt; null if its answer was lost. */
  sendOnce(call: Call, node: 0 | 1): Promise<Answer | null>
  close(): Promise<void>
}

const TIMEOUT_MS = 20_000
const PAUSE_MS = 100
/** Statuses that do not decide anything; the same call is repeated. */
const UNDECIDED = new Set([500, 502, 503, 504])

export function openTransport(world: World, monitor: Monitor, trace: Trace): Transport {
  const agent = new Agent({ connections: 40, bodyTimeout: TIMEOUT_MS, headersTimeout: TIMEOUT_MS })
  const sendOnce = async (call: Call, node: 0 | 1): Promise<Answer | null> => {
    const began = performance.now()
    const fail = (reason: string): null => {
      monitor.fail({ operation: call.name, node, began, reason })
      return null
    }
    try {
      const raw = await exchange(agent, world.nodes[node].url, call)
      const answer = call.path === '/mcp' ? answerOfTool(raw) : raw
      if (!UNDECIDED.has(answer.status) || isDeliberate(answer)) return answer
      return fail(`${answer.status} ${JSON.stringify(answer.body).slice(0, 200)}`)
    } catch (cause) {
      return fail(String(cause))
    }
  }
  return {
    world,
    monitor,
    trace,
    acknowledged: { calls: new Map(), messages: new Map() },
    sendOnce,
    send: async (call, random) => {
      const began = performance.now()
      const keyed = call.method === 'GET' ? call : withKey(call)
      let node = random.below(2) as 0 | 1
      for (let lost = 0; ; lost += 1) {
        const answer = await sendOnce(keyed, node)
        if (answer !== null && answer.body['error'] !== 'idempotency_in_progress') {
          return { ...answer, lost }
        }
        if (monitor.isOver || monitor.isStuck(began))
          throw new Error(`${call.name} got no answer on either node`)
        await delay(PAUSE_MS)
        node = node === 0 ? 1 : 0
      }
    },
    close: () => agent.destroy(),
  }
}

/** Responses that operators cause on purpose. */
const DELIBERATE = new Set(['kill_switch_active', 'maintenance'])
const isDeliberate = ({ body }: { body: Record<string, unknown> }): boolean =>
  DELIBERATE.has(String(body['error']))

const withKey = (call: Call): Call => ({
  ...call,
  headers: { 'idempotency-key': randomUUID(), ...call.headers },
})

async function exchange(agent: Agent, url: string, call: Call): Promise<Answer> {
  const { method, path, body, bearer, headers = {} } = call
  const response = await request(url + path, {
    dispatcher: agent,
    method: method as 'GET',
    headers: {
      ...(bearer !== undefined && { authorization: `Bearer ${bearer}` }),
      ...(body !== undefined && { 'content-type': 'application/json' }),
      ...headers,
    },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  })
  const text = await response.body.text()
  return {
    status: response.statusCode,
    body: bodyOf(String(response.headers['content-type'] ?? ''), text),
    request_id: String(response.headers['request-id'] ?? '') || null,
    lost: 0,
  }
}

/** A slow tool call is answered as a stream whose last message is the result. */
function bodyOf(content_type: string, text: string): Record<string, unknown> {
  if (content_type.startsWith('application/json')) return JSON.parse(text)
  if (!content_type.startsWith('text/event-stream')) return {}
  const messages = [...text.matchAll(/^data: (.*)$/gm)]
  return JSON.parse(messages.at(-1)?.[1] ?? '{}')
}
