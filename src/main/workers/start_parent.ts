import { isDeepStrictEqual } from 'node:util'
import type { FastifyInstance } from 'fastify'
import { Counter } from 'prom-client'
import type { ForwardedRequest, ForwardedResponse } from '#domain/context/surface.ts'
import { connectionsOf, PARENT_POOL_SIZES } from '#main/databases.ts'
import { stdoutLog } from '#main/dependencies.ts'
import { makeHttpServer } from '#main/http.ts'
import { makeSandboxHost } from '#main/sandbox_host.ts'
import { mountSurfaces, type RunningService, type ServiceOptions } from '#main/start.ts'
import { type StartedNode, startNode, startOrStop } from '#main/start_node.ts'
import type { Runtime } from '#operations/runtime.ts'
import { systemClock } from '#platform/runtime/clock.ts'
import { mergeMetrics } from '#platform/runtime/merge_metrics.ts'
import { makeMetrics } from '#platform/runtime/metrics.ts'
import type { OpenLimit } from '#platform/runtime/open_counts.ts'
import type { TaskRunner } from '#platform/runtime/tasks.ts'
import type { Settings } from '#settings/settings.ts'
import { PARENT, sentSettings } from './messages.ts'
import { type ServedWorker, startWorkers, type WorkerPool } from './worker_pool.ts'

type ParentOptions = Pick<ServiceOptions, 'surfaces' | 'dependencies'> & {
  /** The program of a worker. */
  script: URL
  is_log_in_file: boolean
}

/**
 * A service of several processes. This one owns what exists once: the migration, the tasks, the
 * limits and the sandbox. Its workers serve calls and card messages on the same ports.
 */
export async function startParent(
  settings: Settings,
  { surfaces = [], dependencies: overrides, script, is_log_in_file }: ParentOptions,
): Promise<RunningService> {
  const clock = overrides?.clock ?? systemClock()
  const metrics = makeMetrics(clock)
  metrics.registry.setDefaultLabels({ worker: PARENT })
  const log = overrides?.log ?? stdoutLog(clock.wall, { worker: PARENT })
  const dependencies = { ...overrides, clock, metrics, log }

  return startOrStop(async (stops, stop) => {
    const pool_sizes = PARENT_POOL_SIZES
    const node = await startNode(settings, stops, { dependencies, worker: null, pool_sizes })
    const { runtime, issuingOf, database_url } = node
    await warnOfFewConnections(runtime)
    const tasks = node.begin(null)
    const app = makeForwardServer(runtime)
    let isReady = () => {}
    const ready = new Promise<void>((resolve) => {
      isReady = resolve
    })
    // Stopped after the workers, which still forward requests while they finish theirs.
    stops.push(() => app.close())
    const exits = countExits(runtime)
    const pool: WorkerPool = await startWorkers({
      script,
      start: {
        count: settings.workers,
        version: settings.version,
        is_log_in_file,
        settings: sentSettings(settings, database_url),
      },
      serveWorker: () =>
        serveWorker(node, {
          tasks,
          collectMetrics: async () => {
            await ready
            return collectMetrics(runtime, pool)
          },
          forward: async (request) => {
            await ready
            return forward(app, request)
          },
        }),
      onExit: () => exits.inc(),
      clock,
      log,
    })
    stops.push(pool.stop)
    const { port, card_host_port } = pool.ports
    const onAdvance = async (offset_ms: number) => void (await pool.ask('set_clock', offset_ms))
    const sandbox_host = makeSandboxHost(runtime, { tasks, card_host_port, issuingOf, onAdvance })
    mountSurfaces(app, surfaces, { runtime, sandbox_host })
    await app.ready()
    isReady()
    return { url: `http://127.0.0.1:${port}`, sandbox_host, runtime, tasks, stop }
  })
}

/** A service that runs out of connections fails calls only when it is busy. */
async function warnOfFewConnections({ db, settings, log }: Runtime): Promise<void> {
  const [row] = await db.rows<{ allowed: number }>(
    `select current_setting('max_connections')::int
          - current_setting('superuser_reserved_connections')::int as allowed`,
  )
  const needed = connectionsOf(settings.workers)
  const allowed = row?.allowed ?? needed
  if (needed <= allowed) return
  const advice = 'raise max_connections or lower FLORIN_WORKERS'
  log.error(`the database has too few connections: ${advice}`, { needed, allowed }, undefined)
}

const countExits = ({ metrics }: Runtime) =>
  new Counter({
    name: 'florin_worker_exits_total',
    help: 'Workers that ended although nobody stopped them; each was replaced.',
    registers: [metrics.registry],
  })

type ServingOptions = {
  tasks: TaskRunner
  collectMetrics(): Promise<string>
  forward(request: ForwardedRequest): Promise<ForwardedResponse>
}

/** Serves the requests of one worker. */
function serveWorker({ runtime }: StartedNode, parts: ServingOptions): ServedWorker {
  const { limiter, open_streams } = runtime
  const held: (readonly OpenLimit[])[] = []
  return {
    handlers: {
      decide_rates: (questions) =>
        Promise.all(
          questions.map(({ subject, policies, cost }) =>
            cost === 1 ? limiter.take(subject, policies) : limiter.peek(subject, policies),
          ),
        ),
      open_stream: async (limits) => {
        const isOpen = await open_streams.open(limits)
        if (isOpen) held.push(limits)
        return isOpen
      },
      close_stream: (limits) => {
        const at = held.findIndex((each) => isDeepStrictEqual(each, limits))
        if (at >= 0) for (const each of held.splice(at, 1)) open_streams.close(each)
        return undefined
      },
      committed: () => void parts.tasks.nudge(),
      collect_metrics: parts.collectMetrics,
      forward: parts.forward,
    },
    release: () => {
      for (const limits of held.splice(0)) open_streams.close(limits)
    },
  }
}

/** The series of all processes; their `worker` label tells them apart. */
async function collectMetrics({ metrics }: Runtime, pool: WorkerPool): Promise<string> {
  const own = await metrics.registry.getMetricsAsJSON()
  return mergeMetrics([own, ...(await pool.ask('read_metrics', null))])
}

/** The routes of the sandbox, without a port of their own: workers forward requests to them. */
function makeForwardServer(runtime: Runtime): FastifyInstance {
  const app = makeHttpServer(runtime)
  // The worker has read the body already, within its limits.
  app.removeAllContentTypeParsers()
  app.addContentTypeParser('*', { parseAs: 'buffer' }, (_request, body, done) => done(null, body))
  return app
}

const HOP_BY_HOP = ['connection', 'keep-alive', 'transfer-encoding', 'content-length', 'date']

async function forward(
  app: FastifyInstance,
  { method, url, headers, body, ip }: ForwardedRequest,
): Promise<ForwardedResponse> {
  const response = await app.inject({
    method: method as 'GET',
    url,
    headers: { ...headers },
    remoteAddress: ip,
    ...(body !== null && { payload: Buffer.from(body) }),
  })
  const kept = Object.entries(response.headers).filter(([name]) => !HOP_BY_HOP.includes(name))
  return {
    status: response.statusCode,
    headers: Object.fromEntries(kept) as ForwardedResponse['headers'],
    body: response.rawPayload,
  }
}
