import { Readable } from 'node:stream'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { notFound } from '#contract/common_problems.ts'
import type { Statement } from '#contract/statements.ts'
import { assertFound, findAccounts } from '#domain/accounts/account_store.ts'
import { agentLinesOf, agentLineView, writeAgentCsv } from '#domain/statements/agent_lines.ts'
import { writeStatementCsv } from '#domain/statements/statement_csv.ts'
import { statementLinesOf } from '#domain/statements/statement_lines.ts'
import { writeStatementPdf } from '#domain/statements/statement_pdf.ts'
import { requestContextOf } from '#doors/request_context.ts'
import { bearerOf } from '#kernel/bearer.ts'
import type { Call } from '#operations/call.ts'
import { runtimeOfBearer } from '#operations/cells.ts'
import { invoke } from '#operations/invoke.ts'
import type { Runtime } from '#operations/runtime.ts'
import { send } from './send.ts'

/** Downloads of statements. Anyone who may call list_statements may download them. */
export function mountStatementFiles(app: FastifyInstance, runtime: Runtime): void {
  app.get('/files/statements/:name', (request, reply) => download(runtime, request, reply))
}

const CONTENT_TYPES = {
  csv: 'text/csv; charset=utf-8',
  pdf: 'application/pdf',
  'agents.csv': 'text/csv; charset=utf-8',
  'agents.json': 'application/json; charset=utf-8',
} as const
const NAME = /^(\d{4}-(?:0[1-9]|1[0-2]))\.(csv|pdf|agents\.csv|agents\.json)$/

async function download(
  runtime: Runtime,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<FastifyReply> {
  const { name } = request.params as { name: string }
  const [, period = '', format = ''] = NAME.exec(name) ?? []
  // An unknown name becomes a month before all accounts, so access is checked before the 404.
  const month = `${period || '1970-01'}-01T00:00:00.000Z`
  const call: Call = {
    operation: 'list_statements',
    bearer: bearerOf(request.headers.authorization),
    request: requestContextOf(request),
    readInput: () => ({ created_gte: month, created_lte: month }),
  }
  const response = await invoke(runtime, call)
  if (response.status !== 200) return send(runtime, reply, call, response)
  reply.headers(response.headers).header('Request-Id', call.request.id)
  const [statement] = (JSON.parse(response.body) as { data: Statement[] }).data
  if (statement === undefined) throw notFound('file')
  return reply
    .headers({
      'Content-Type': CONTENT_TYPES[format as keyof typeof CONTENT_TYPES],
      'Content-Disposition': `attachment; filename="statement-${name}"`,
      'X-Content-Type-Options': 'nosniff',
      'Cache-Control': 'private, no-store',
    })
    .send(Readable.from(await contentOf(runtime, call, { statement, format })))
}

type FileRequest = { statement: Statement; format: string }

/** Streamed: a month may have any number of lines. */
async function contentOf(
  home: Runtime,
  { bearer }: Call,
  { statement, format }: FileRequest,
): Promise<Iterable<string> | AsyncIterable<string | Buffer>> {
  const runtime = runtimeOfBearer(home, bearer)
  const caller = await runtime.credentials.callerOf(bearer ?? '')
  const tx = runtime.databaseOf(caller)
  const lines = statementLinesOf(tx, caller.account_id, statement)
  if (format === 'csv') return writeStatementCsv(lines)
  const agents = await agentLinesOf(tx, caller.account_id, statement.period)
  if (format === 'agents.csv') return writeAgentCsv(agents)
  if (format === 'agents.json') return [JSON.stringify({ data: agents.map(agentLineView) })]
  const [account] = await findAccounts(tx, [caller.account_id])
  const owner = assertFound(account)
  return writeStatementPdf(statement, { owner, agents, lines, now: runtime.clock.now() })
}
