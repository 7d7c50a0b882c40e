import type { IncomingMessage } from 'node:http'
import type { FastifyInstance } from 'fastify'
import type { Engine } from '#domain/authorizations/engine.ts'
import { startOtlpExporter } from '#platform/http_client/otlp_exporter.ts'
import type { AccountPool, Database } from '#platform/postgres/db.ts'
import type { Clock } from '#platform/runtime/clock.ts'
import type { Random } from '#platform/runtime/random.ts'
import type { Task } from '#platform/runtime/tasks.ts'
import { makeTracer, parseTraceparent, type Span, type Tracer } from '#platform/runtime/tracing.ts'
import type { Settings } from '#settings/settings.ts'

type TracingDependencies = { clock: Clock; random: Random; onFailure(cause: unknown): void }

export type Tracing = { tracer: Tracer; stop(): Promise<void> }

/** Null without OTEL_EXPORTER_OTLP_ENDPOINT: nothing is wrapped then, so nothing is slower. */
export function startTracing(
  { tracing, version }: Settings,
  { clock, random, onFailure }: TracingDependencies,
): Tracing | null {
  if (tracing === null) return null
  const { endpoint, service_name } = tracing
  const headers = readHeaders(tracing.headers?.open() ?? '')
  const exporter = startOtlpExporter({
    endpoint,
    service_name,
    version,
    headers,
    clock,
    onFailure,
  })
  return { tracer: makeTracer({ clock, random, onEnd: exporter.add }), stop: exporter.stop }
}

/** "name=value,name=value", with percent-encoded values, as OpenTelemetry defines it. */
function readHeaders(text: string): Record<string, string> {
  const pairs = text.split(',').flatMap((pair) => {
    const at = pair.indexOf('=')
    return at < 1 ? [] : [[pair.slice(0, at).trim(), decodeURIComponent(pair.slice(at + 1).trim())]]
  })
  return Object.fromEntries(pairs)
}

/** One span per request, named by its route: a URL may contain IDs or tokens. */
export function traceRequests(app: FastifyInstance, { tracer }: Tracing): void {
  const spans = new WeakMap<IncomingMessage, Span>()
  app.addHook('onRequest', ({ raw, method, routeOptions: { url = 'unknown' } }, _reply, done) => {
    const parent = parseTraceparent(raw.headers['traceparent'] as string | undefined)
    const attributes = { 'http.request.method': method, 'http.route': url }
    const span = tracer.startSpan(`${method} ${url}`, { kind: 'server', parent, attributes })
    spans.set(raw, span)
    tracer.runWithin(span, done)
  })
  // A body arrives in another asynchronous context, so the handler's is set again.
  app.addHook('preHandler', ({ raw }, _reply, done) => {
    const span = spans.get(raw)
    if (span === undefined) return done()
    tracer.runWithin(span, done)
  })
  app.addHook('onResponse', ({ raw }, { statusCode }, done) => {
    const attributes = { 'http.response.status_code': statusCode }
    spans.get(raw)?.end({ attributes, is_error: statusCode >= 500 })
    done()
  })
}

export function traceTasks(tasks: readonly Task[], { tracer }: Tracing): Task[] {
  return tasks.map((task) => ({
    ...task,
    run: () => {
      const attributes = { 'florin.task': task.name }
      return tracer.trace(`task ${task.name}`, { parent: null, attributes }, task.run)
    },
  }))
}

/** One span per card message, from its arrival to the commit of its batch. */
export function traceEngine(engine: Engine, { tracer }: Tracing): Engine {
  return {
    ...engine,
    submit: (request, submitToOtherCell) => {
      const { kind, link, message } = request
      const mti = message === null ? {} : { 'florin.mti': message.mti }
      const attributes = { 'florin.card_message': kind, 'florin.link': link, ...mti }
      const options = { kind: 'server', parent: null, attributes } as const
      return tracer.trace(`card message ${kind}`, options, () =>
        engine.submit(request, submitToOtherCell),
      )
    },
  }
}

const TRANSACTION = { kind: 'client', attributes: { 'db.system.name': 'postgresql' } } as const

type Transactional = Pick<Database, 'transaction'>

export function traceDatabase<Db extends Transactional>(
  db: Db,
  { tracer }: Tracing,
  /** A batch of card messages belongs to no single message. */
  options: { is_batch?: boolean } = {},
): Db {
  const parent = options.is_batch === true ? { parent: null } : {}
  return {
    ...db,
    transaction: (work: Parameters<Db['transaction']>[0]) =>
      tracer.trace('transaction', { ...TRANSACTION, ...parent }, () => db.transaction(work)),
  }
}

type OpenedDatabases = { db: Database; account_pool: AccountPool }

export function traceDatabases(opened: OpenedDatabases, tracing: Tracing): OpenedDatabases {
  const { account_pool: pool } = opened
  const of = (account_id: string) => traceDatabase(pool.of(account_id), tracing)
  return { db: traceDatabase(opened.db, tracing), account_pool: { ...pool, of } }
}
