import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { methodNotAllowed } from '#contract/common_problems.ts'
import type { Caller } from '#domain/context/context.ts'
import { challenge, stepUp } from '#doors/challenge.ts'
import { readJsonBytes } from '#doors/json_body.ts'
import { type BodyConfig, readBody, STRANGER_BYTES_MAX } from '#doors/read_body.ts'
import { JsonError } from '#kernel/json.ts'
import type { Response } from '#operations/call.ts'
import type { RateSubject } from '#operations/invocation.ts'
import { problemOf, problemResponse } from '#operations/problem_response.ts'
import type { Runtime } from '#operations/runtime.ts'
import { rateHeaders, rateSubjectOf } from '#operations/steps/limit_rate.ts'
import { default_capabilities, type McpCapabilities } from './capabilities.ts'
import { countCall, type Exchange, identify, openExchange, type ToolCall } from './exchange.ts'
import {
  accepts,
  allowOrigin,
  preflight,
  requireAccept,
  requireJsonType,
  requireKnownVersion,
  requireOwnOrigin,
} from './guard.ts'
import {
  errorText,
  isToken,
  METHOD_NOT_FOUND,
  type Message,
  messageFrom,
  PARSE_ERROR,
  ProtocolError,
  requireFirstPage,
  resultText,
} from './protocol.ts'
import { HttpRefusal, isAboutBearer } from './refusal.ts'
import { endSession, openSession, requireSession } from './session.ts'
import { streamTool } from './stream.ts'
import { toolCallFrom } from './tool_call.ts'
import { declaresUrlElicitation, elicitationIn } from './url_elicitation.ts'

const PATH = '/mcp'

type Door = { runtime: Runtime; capabilities: McpCapabilities }

/** The MCP server: streamable HTTP, stateless unless sessions are turned on. */
export function mountMcp(
  app: FastifyInstance,
  runtime: Runtime,
  capabilities: McpCapabilities = default_capabilities,
): void {
  const door = { runtime, capabilities }
  const post = (request: FastifyRequest, reply: FastifyReply) =>
    guarded(door, request, reply, (exchange) => serve(exchange, capabilities))
  app.route({
    method: 'POST',
    url: PATH,
    config: { bearer: 'mcp' } satisfies BodyConfig as object,
    // Served before the framework reads the body, which costs 10 % more (bench/mcp).
    onRequest: post,
    handler: post,
  })
  app.delete(PATH, (request, reply) =>
    guarded(door, request, reply, async (exchange) => {
      if (!runtime.settings.mcp_sessions) return refuseMethod(exchange)
      await endSession(exchange, await identify(exchange))
      reply.code(204).send()
    }),
  )
  app.options(PATH, (request, reply) => guarded(door, request, reply, async () => preflight(reply)))
  app.route({
    method: ['GET', 'HEAD', 'PUT', 'PATCH'],
    url: PATH,
    exposeHeadRoute: false,
    handler: (request, reply) =>
      guarded(door, request, reply, async (exchange) => refuseMethod(exchange)),
  })
}

/** Returns nothing: the framework would wait for a returned reply. */
type Serve = (exchange: Exchange) => Promise<void>

async function guarded(
  { runtime, capabilities }: Door,
  request: FastifyRequest,
  reply: FastifyReply,
  serving: Serve,
): Promise<void> {
  const exchange = openExchange({ runtime, tools: capabilities.tools, request, reply })
  try {
    requireOwnOrigin(runtime.settings, request)
    if (request.method === 'POST') request.body = await readBody(runtime, request)
    allowOrigin(reply, request.headers.origin)
    await serving(exchange)
  } catch (cause) {
    await refuse(exchange, cause)
  }
}

/** The server sends no notifications of its own, so there is no GET stream. */
function refuseMethod({ runtime, request, reply }: Exchange): never {
  const allowed = runtime.settings.mcp_sessions ? 'POST, DELETE' : 'POST'
  reply.header('Allow', allowed)
  throw methodNotAllowed(request.method, allowed)
}

async function serve(exchange: Exchange, capabilities: McpCapabilities): Promise<void> {
  const open = exchange.bearer === null ? await openCallIn(exchange) : null
  if (open !== null) return serveMessage(exchange, capabilities, open, null)
  const bytes = (exchange.request.body as Buffer | undefined)?.length ?? 0
  // The pipeline authenticates tool calls, so the door does not: 5 % of a call (bench/mcp).
  const isSmall = exchange.bearer !== null && bytes <= STRANGER_BYTES_MAX
  await serveBody(exchange, capabilities, isSmall ? null : await identify(exchange))
}

async function serveBody(
  exchange: Exchange,
  capabilities: McpCapabilities,
  known: Caller | null,
): Promise<void> {
  const { request } = exchange
  requireAccept(request)
  requireJsonType(request)
  await serveMessage(exchange, capabilities, await readMessage(request), known)
}

async function openCallIn({ request, tools }: Exchange): Promise<Message | null> {
  const bytes = request.body as Buffer | undefined
  if (bytes === undefined || bytes.length > STRANGER_BYTES_MAX) return null
  try {
    const message = await readMessage(request)
    if (message.id === null || message.method !== 'tools/call') return null
    return tools.isOpen(toolCallFrom(tools, message.params).name) ? message : null
  } catch (cause) {
    if (cause instanceof ProtocolError) return null
    throw cause
  }
}

const NOTHING = Buffer.alloc(0)

async function readMessage(request: FastifyRequest): Promise<Message> {
  try {
    return messageFrom(await readJsonBytes((request.body as Buffer | undefined) ?? NOTHING))
  } catch (cause) {
    return refuseJson(cause)
  }
}

function refuseJson(cause: unknown): never {
  if (cause instanceof ProtocolError) throw cause
  const sentence = cause instanceof JsonError ? cause.message : 'it is not valid UTF-8'
  throw new ProtocolError(PARSE_ERROR, `The message is not valid JSON: ${sentence}.`, 400)
}

async function serveMessage(
  exchange: Exchange,
  capabilities: McpCapabilities,
  { id, method, params }: Message,
  known: Caller | null,
): Promise<void> {
  exchange.id = id
  const { runtime, request, reply } = exchange
  if (method !== 'initialize') requireKnownVersion(request)
  try {
    if (method === 'tools/call' && id !== null) {
      if (runtime.settings.mcp_sessions && exchange.bearer !== null) {
        await requireSession(exchange, known ?? (await identify(exchange)))
      }
      const call = toolCallFrom(capabilities.tools, params)
      if (isStreamed(exchange, call) && (await serveStream(exchange, call, known))) return
      return await sendResult(exchange, call, await capabilities.tools.run(exchange, call))
    }
    const caller = known ?? (await identify(exchange))
    return await serveMethod(exchange, capabilities, { id, method, params }, caller)
  } catch (cause) {
    if (!(cause instanceof ProtocolError)) throw cause
    // Without a valid bearer the response says so, not which tools exist.
    if (exchange.bearer !== null) await identify(exchange)
    return sendText(reply, cause.status, errorText(id, cause))
  }
}

async function serveMethod(
  exchange: Exchange,
  { methods, tools }: McpCapabilities,
  { id, method, params }: Message,
  caller: Caller,
): Promise<void> {
  const { runtime, reply } = exchange
  const { mcp_sessions } = runtime.settings
  if (mcp_sessions && method !== 'initialize') await requireSession(exchange, caller)
  if (method !== 'resources/read') await countCall(exchange, caller)
  if (id === null || method === null) return void reply.code(202).send()
  if (method.endsWith('/list')) requireFirstPage(params)
  if (method === 'tools/list')
    return sendText(reply, 200, resultText(id, tools.list(runtime, caller)))
  const run = Object.hasOwn(methods, method) ? methods[method] : undefined
  if (run === undefined) {
    throw new ProtocolError(METHOD_NOT_FOUND, `There is no method ${method.slice(0, 100)}.`)
  }
  const result = await run(exchange, params, caller)
  if (method === 'initialize') {
    const session_id = await openSession(exchange, caller, declaresUrlElicitation(params))
    if (session_id !== null) reply.header('Mcp-Session-Id', session_id)
  }
  return sendText(reply, 200, resultText(id, result))
}

/** A stream cannot change its HTTP status, so a call that would be refused is not streamed. */
async function serveStream(
  exchange: Exchange,
  call: ToolCall,
  known: Caller | null,
): Promise<boolean> {
  const { bearer, tools } = exchange
  const caller = bearer === null ? null : (known ?? (await identify(exchange)))
  if (!tools.isAllowed(call, caller)) return false
  await setRateHeaders(exchange, tools.rateSubject(exchange, call, caller))
  await streamTool(exchange, call)
  return true
}

function sendResult(exchange: Exchange, call: ToolCall, response: Response): void | Promise<void> {
  const { reply, id, tools } = exchange
  if (isAboutBearer(response)) throw new HttpRefusal(response)
  const { problem_code } = response
  if (problem_code === 'insufficient_scope' || problem_code === 'approval_required') {
    return sendElicitation(exchange, call, response)
  }
  reply.headers(response.headers)
  sendText(reply, 200, resultText(id, tools.resultOf(call, response)))
}

/** For a client that cannot open URLs, the refusal itself. */
async function sendElicitation(
  exchange: Exchange,
  call: ToolCall,
  response: Response,
): Promise<void> {
  const { reply, id, tools } = exchange
  const elicitation = await elicitationIn(exchange, call, response)
  if (elicitation === undefined && response.problem_code === 'insufficient_scope') {
    throw new HttpRefusal(response, tools.scopesFor(call))
  }
  reply.headers(response.headers)
  if (elicitation !== undefined) throw elicitation
  sendText(reply, 200, resultText(id, tools.resultOf(call, response)))
}

const isStreamed = ({ tools, request }: Exchange, { name, meta }: ToolCall) =>
  (tools.isLong(name) || isToken(meta['progressToken'])) && accepts(request, 'text/event-stream')

/** Header names are in lower case, so that Node does not convert them for each response. */
function sendText(reply: FastifyReply, status: number, text: string): void {
  reply
    .code(status)
    .header('cache-control', 'no-store')
    .type('application/json; charset=utf-8')
    .send(text)
}

/** Sends an HTTP error; for a malformed message, a JSON-RPC error. */
async function refuse(exchange: Exchange, cause: unknown): Promise<void> {
  const { runtime, reply, request_context, request } = exchange
  if (!reply.hasHeader('RateLimit')) {
    await setRateHeaders(exchange, rateSubjectOf(runtime, { ip: request.ip }))
  }
  if (cause instanceof ProtocolError) return sendText(reply, cause.status, errorText(null, cause))
  const refusal =
    cause instanceof HttpRefusal ? cause : new HttpRefusal(responseTo(exchange, cause))
  const { response } = refusal
  const { settings } = runtime
  reply.headers(response.headers)
  if (response.status === 401) {
    reply.header('WWW-Authenticate', challenge(settings, 'mcp', response))
  }
  if (response.problem_code === 'insufficient_scope') {
    const held = exchange.bearer === null ? [] : await heldScopes(exchange)
    const scopes = [...new Set([...held, ...refusal.needed])]
    reply.header('WWW-Authenticate', stepUp(settings, 'mcp', scopes))
  }
  runtime.log.info('refused', {
    path: PATH,
    status: response.status,
    request_id: request_context.id,
  })
  return sendText(reply, response.status, response.body)
}

/** For a response that is sent before its call is counted, or without one. */
async function setRateHeaders(
  { runtime: { limiter }, reply }: Exchange,
  subject: RateSubject,
): Promise<void> {
  reply.headers(rateHeaders(subject, await limiter.peek(subject.key, subject.policies)))
}

async function heldScopes({ runtime, bearer }: Exchange) {
  const { scopes } = await runtime.credentials.callerOf(bearer ?? '', 'mcp')
  return [...scopes]
}

function responseTo({ runtime, request_context }: Exchange, cause: unknown): Response {
  const problem = problemOf(cause)
  if (problem.status >= 500) {
    runtime.log.error('an agent request failed', { request_id: request_context.id }, problem.cause)
  }
  return problemResponse(problem, request_context.id)
}
