import type { FastifyReply, FastifyRequest } from 'fastify'
import { missingToken } from '#contract/common_problems.ts'
import type { Scope } from '#contract/scopes.ts'
import type { Caller } from '#domain/context/context.ts'
import { bearerOf } from '#doors/bearer.ts'
import { requestFactsOf } from '#doors/request_facts.ts'
import type { Answer, Call } from '#operations/call.ts'
import type { Programme } from '#operations/programme.ts'
import { limitRate, rateHeaders, rateSubjectOf } from '#operations/steps/limit_rate.ts'
import type { MessageId, Params } from './protocol.ts'

/** One request to the agent-tool server and what has come out about it so far. */
export type Exchange = {
  programme: Programme
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
  list(programme: Programme, caller: Caller): string
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
  programme,
  tools,
  request,
  reply,
}: Pick<Exchange, 'programme' | 'tools' | 'request' | 'reply'>): Exchange {
  const facts = requestFactsOf(programme, request)
  reply.header('request-id', facts.id)
  return {
    programme,
    tools,
    request,
    reply,
    facts,
    bearer: bearerOf(request.headers.authorization),
    id: null,
  }
}

/** Who asks. A wrong bearer costs its address a call, as it does over REST. */
export async function identify({ programme, bearer, request }: Exchange): Promise<Caller> {
  try {
    if (bearer === null) {
      throw missingToken()
    }
    return await programme.credentials.callerOf(bearer, 'mcp')
  } catch (cause) {
    const nobody = { caller: null, ip: request.ip }
    await limitRate(programme, rateSubjectOf(programme, null, nobody))
    throw cause
  }
}

/** For what is no operation, and counts as a call all the same. */
export async function countCall(exchange: Exchange, caller: Caller): Promise<void> {
  const { programme, request, reply } = exchange
  const subject = rateSubjectOf(programme, null, { caller, ip: request.ip })
  reply.headers(rateHeaders(subject, await limitRate(programme, subject)))
}
