import type { FastifyReply, FastifyRequest } from 'fastify'
import { Problem } from '#contract/problem.ts'
import { bearerOf } from '#doors/bearer.ts'
import { requestFactsOf } from '#doors/request_facts.ts'
import type { Call } from '#operations/call.ts'
import type { Programme } from '#operations/programme.ts'
import { limitRate, rateHeaders, rateSubjectOf } from '#operations/steps/limit_rate.ts'
import type { Caller } from '#platform/context.ts'
import type { MessageId, Params } from './protocol.ts'

/** One request to the agent-tool server and what has come out about it so far. */
export type Exchange = {
  programme: Programme
  request: FastifyRequest
  reply: FastifyReply
  facts: Call['request']
  bearer: string | null
  id: MessageId | null
}

/** A method that needs a caller, and answers with the JSON text of its result. */
export type Method = (
  exchange: Exchange,
  params: Params,
  caller: Caller,
) => string | Promise<string>

export function openExchange(
  programme: Programme,
  request: FastifyRequest,
  reply: FastifyReply,
): Exchange {
  const facts = requestFactsOf(programme, request)
  reply.header('Request-Id', facts.id)
  return {
    programme,
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
      throw new Problem('missing_token', 'Send Authorization: Bearer with a session, key or token.')
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
