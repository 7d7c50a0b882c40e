import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Scope } from '#contract/scopes.ts'
import type { Caller } from '#domain/context/context.ts'
import { limitRequest } from '#doors/limit_request.ts'
import { requestContextOf } from '#doors/request_context.ts'
import { bearerOf } from '#kernel/bearer.ts'
import type { Call, Response } from '#operations/call.ts'
import { runtimeOfBearer } from '#operations/cells.ts'
import type { RateSubject } from '#operations/invocation.ts'
import type { Runtime } from '#operations/runtime.ts'
import { identifyCaller } from '#operations/steps/authenticate.ts'
import { rateSubjectOf } from '#operations/steps/limit_rate.ts'
import type { MessageId, Params } from './protocol.ts'

/** One request to the MCP server. */
export type Exchange = {
  runtime: Runtime
  tools: Tools
  request: FastifyRequest
  reply: FastifyReply
  request_context: Call['request']
  bearer: string | null
  id: MessageId | null
}

export type ToolCall = { name: string; arguments: Record<string, unknown>; meta: Params }

/** The tools of the server: who may see and call them, and the form of their results. */
export type Tools = {
  /** The result of tools/list, as JSON text. */
  list(runtime: Runtime, caller: Caller): string
  has(name: string): boolean
  /** True if it can be called without a bearer. */
  isOpen(name: string): boolean
  isAllowed(call: ToolCall, caller: Caller | null): boolean
  /** The scopes a refused call requires. */
  scopesFor(call: ToolCall): readonly Scope[]
  isLong(name: string): boolean
  /** The limits that the call counts against; the caller is null without a bearer. */
  rateSubject(exchange: Exchange, call: ToolCall, caller: Caller | null): RateSubject
  /** `onStart` is called when access was checked. */
  run(exchange: Exchange, call: ToolCall, onStart?: () => void): Promise<Response>
  /** The tool result, as JSON text. */
  resultOf(call: ToolCall, response: Response): string
}

/** A method that requires a caller and returns its result as JSON text. */
export type Method = (
  exchange: Exchange,
  params: Params,
  caller: Caller,
) => string | Promise<string>

export function openExchange({
  runtime: home,
  tools,
  request,
  reply,
}: Pick<Exchange, 'runtime' | 'tools' | 'request' | 'reply'>): Exchange {
  const bearer = bearerOf(request.headers.authorization)
  const runtime = runtimeOfBearer(home, bearer)
  const request_context = requestContextOf(request)
  reply.header('request-id', request_context.id)
  return {
    runtime,
    tools,
    request,
    reply,
    request_context,
    bearer,
    id: null,
  }
}

export function identify({ runtime, bearer, request }: Exchange): Promise<Caller> {
  return identifyCaller(runtime, { bearer, resource: 'mcp', ip: request.ip })
}

/** Protocol methods that are not operations count as calls too. */
export async function countCall(exchange: Exchange, caller: Caller): Promise<void> {
  const { runtime, request, reply } = exchange
  const subject = rateSubjectOf(runtime, { caller, ip: request.ip })
  await limitRequest(runtime, reply, subject)
}
