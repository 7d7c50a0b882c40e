import type { AddressInfo } from 'node:net'
import type { FastifyInstance } from 'fastify'
import type { Engine } from '#domain/authorizations/engine.ts'
import type { Dependencies } from '#domain/context/context.ts'
import type { SandboxHost, Surface } from '#domain/context/surface.ts'
import { mountMcp } from '#doors/mcp/server.ts'
import { mountOauth } from '#doors/oauth/server.ts'
import { mountOperator } from '#doors/operator/operator.ts'
import { keepOperatorApart } from '#doors/operator/own_origin.ts'
import { mountProcessor } from '#doors/processor/processor.ts'
import { mountRest } from '#doors/rest/router.ts'
import { standardHeaders } from '#doors/send_problem.ts'
import { mountSite } from '#doors/site/site.ts'
import { mountThreeDs } from '#doors/three_ds/respond.ts'
import type { Runtime } from '#operations/runtime.ts'
import { startEmbeddedPostgres } from '#platform/embedded_postgres/embedded_postgres.ts'
import { systemClock } from '#platform/runtime/clock.ts'
import { type Log, silentLog } from '#platform/runtime/log.ts'
import { systemRandom } from '#platform/runtime/random.ts'
import type { TaskRunner } from '#platform/runtime/tasks.ts'
import type { Settings } from '#settings/settings.ts'
import { requireSharable, startOtherCells } from './cells.ts'
import { makeHttpServer } from './http.ts'
import { startIssuerHost } from './issuing.ts'
import { routeMessages } from './route_messages.ts'
import { allTasks, makeSandboxHost } from './sandbox_host.ts'
import { startCell } from './start_cell.ts'
import { startTracing, traceRequests } from './tracing.ts'

export type RunningService = {
  url: string
  sandbox_host: SandboxHost
  runtime: Runtime
  tasks: TaskRunner
  stop(): Promise<void>
}

type Options = { surfaces?: readonly Surface[]; dependencies?: Partial<Dependencies> }

/** Builds and starts all parts in order; stops them in reverse. */
export async function startService(
  settings: Settings,
  options: Options = {},
): Promise<RunningService> {
  requireSharable(settings)
  const stops: (() => Promise<void>)[] = []
  const stop = async () => {
    for (const each of stops.splice(0).reverse()) await each()
  }
  try {
    return await start(settings, options, { stops, stop })
  } catch (cause) {
    await stop()
    throw cause
  }
}

type StopFunctions = { stops: (() => Promise<void>)[]; stop(): Promise<void> }

async function start(
  settings: Settings,
  options: Options,
  { stops, stop }: StopFunctions,
): Promise<RunningService> {
  const database_url = await databaseUrl(settings, stops)
  let log: Log = silentLog
  const tracing = startTracing(settings, {
    clock: options.dependencies?.clock ?? systemClock(),
    random: options.dependencies?.random ?? systemRandom,
    onFailure: (cause) => log.error('traces could not be exported', {}, cause),
  })
  if (tracing !== null) stops.push(tracing.stop)
  const overrides = options.dependencies
  const home = await startCell(settings, database_url, { stops, tracing, overrides, home: null })
  const { runtime } = home
  log = runtime.log
  const others = await startOtherCells(settings, home, { stops, tracing })

  const engine = routeMessages(home.issuing.engine, { ...others, clock: runtime.clock })
  const host = await startIssuerHost(runtime, engine)
  stops.push(host.stop)
  const probe = overrides?.probes === undefined ? host.probe : null
  const known_findings = new Map()
  const runners = [home, ...others.started.values()].map((cell) =>
    cell.begin(probe, known_findings),
  )
  others.onStart((cell) => void runners.push(cell.begin(probe, known_findings)))
  const tasks = allTasks(runners)

  const app = makeHttpServer(runtime)
  if (tracing !== null) traceRequests(app, tracing)
  keepOperatorApart(app, settings.operator_url)
  const issuingOf = (number: number) => (others.started.get(number) ?? home).issuing
  const sandbox_host = makeSandboxHost(runtime, { tasks, card_host_port: host.port, issuingOf })
  mountDoors(app, runtime, engine)
  app.register(async (scope) => {
    scope.addHook('onRequest', async (request, reply) => {
      reply.headers(await standardHeaders(runtime, request))
    })
    for (const mount of options.surfaces ?? []) mount(scope, sandbox_host)
  })
  await app.listen({ host: settings.host, port: settings.port })
  stops.push(() => app.close())
  const { port } = app.server.address() as AddressInfo
  return { url: `http://127.0.0.1:${port}`, sandbox_host, runtime, tasks, stop }
}

function mountDoors(app: FastifyInstance, runtime: Runtime, engine: Engine): void {
  mountRest(app, runtime)
  mountMcp(app, runtime)
  mountOauth(app, runtime)
  mountSite(app, runtime)
  mountThreeDs(app, runtime)
  mountProcessor(app, runtime, engine)
  mountOperator(app, runtime)
}

async function databaseUrl(settings: Settings, stops: (() => Promise<void>)[]): Promise<string> {
  if (settings.database_url !== null) return settings.database_url.open()
  const embedded = await startEmbeddedPostgres({ data_dir: settings.data_dir })
  stops.push(embedded.stop)
  return embedded.url
}
