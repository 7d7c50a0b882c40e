import type { FastifyReply, FastifyRequest } from 'fastify'
import { missingToken } from '#contract/common_problems.ts'
import type { Scope } from '#contract/scopes.ts'
import type { Caller } from '#domain/context/context.ts'
import { bearerOf } from '#doors/bearer.ts'
import { requestContextOf } from '#doors/request_context.ts'
import type { Answer, Call } from '#operations/call.ts'
import type { Runtime } from '#operations/runtime.ts'
import { limitRate, rateHeaders, rateSubjectOf } from '#operations/steps/limit_rate.ts'
import type { MessageId, Params } from './protocol.ts'

/** One request to the agent-tool server and what has come out about it so far. */
export type Exchange = {
  runtime: Runtime
  tools: Tools
  request: FastifyRequest
  reply: FastifyReply
  facts: Call['request']
  bearer: string | null
  id: MessageId | null
}

export type ToolCall = { name: string; arguments: Record<string, unknown>; meta: Params }

/** The tools behind the door: who may see and call them, and what their results look like. */
export type Tools = {
  /** The answer to tools/list, as JSON text. */
  list(runtime: Runtime, caller: Caller): string
  has(name: string): boolean
  /** Served to a stranger too. */
  isOpen(name: string): boolean
  isAllowed(call: ToolCall, caller: Caller | null): boolean
  /** The scopes that a refused call would have needed. */
  scopesFor(call: ToolCall): readonly Scope[]
  isLong(name: string): boolean
  /** `onStart` is called once nothing stands in the way any more. */
  run(exchange: Exchange, call: ToolCall, onStart?: () => void): Promise<Answer>
  /** An answer as the result of the tool, as JSON text. */
  resultOf(call: ToolCall, answer: Answer): string
}

/** A method that needs a caller, and answers with the JSON text of its result. */
export type Method = (
  exchange: Exchange,
  params: Params,
  caller: Caller,
) => string | Promise<string>

export function openExchange({
  runtime,
  tools,
  request,
  reply,
}: Pick<Exchange, 'runtime' | 'tools' | 'request' | 'reply'>): Exchange {
  const facts = requestContextOf(runtime, request)
  reply.header('request-id', facts.id)
  return {
    runtime,
    tools,
    request,
    reply,
    facts,
    bearer: bearerOf(request.headers.authorization),
    id: null,
  }
}

/** Who asks. A wrong bearer costs its address a call, as it does over REST. */
export async function identify({ runtime, bearer, request }: Exchange): Promise<Caller> {
  try {
    if (bearer === null) {
      throw missingToken()
    }
    return await runtime.credentials.callerOf(bearer, 'mcp')
  } catch (cause) {
    const nobody = { caller: null, ip: request.ip }
    await limitRate(runtime, rateSubjectOf(runtime, null, nobody))
    throw cause
  }
}

/** For what is no operation, and counts as a call all the same. */
export async function countCall(exchange: Exchange, caller: Caller): Promise<void> {
  const { runtime, request, reply } = exchange
  const subject = rateSubjectOf(runtime, null, { caller, ip: request.ip })
  reply.headers(rateHeaders(subject, await limitRate(runtime, subject)))
}
