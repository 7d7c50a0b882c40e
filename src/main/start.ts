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
import type { TaskRunner } from '#platform/runtime/tasks.ts'
import type { Settings } from '#settings/settings.ts'
import { CONNECTIONS, type ConnectionLimits } from './connection_limits.ts'
import { POOL_SIZES, type PoolSizes } from './databases.ts'
import { makeHttpServer } from './http.ts'
import { startIssuerHost } from './issuing.ts'
import { makeSandboxHost } from './sandbox_host.ts'
import type { WorkerOptions } from './start_cell.ts'
import { startNode, startOrStop } from './start_node.ts'
import { traceRequests } from './tracing.ts'

export type RunningService = {
  url: string
  sandbox_host: SandboxHost
  runtime: Runtime
  tasks: TaskRunner
  stop(): Promise<void>
}

export type ServiceOptions = {
  surfaces?: readonly Surface[]
  dependencies?: Partial<Dependencies>
  /** Set if this process is a worker of a node. */
  worker?: WorkerOptions & { pool_sizes: PoolSizes; connections: ConnectionLimits }
}

/** Builds and starts all parts in order; stops them in reverse. */
export async function startService(
  settings: Settings,
  { surfaces = [], dependencies, worker }: ServiceOptions = {},
): Promise<RunningService> {
  return startOrStop(async (stops, stop) => {
    const node = await startNode(settings, stops, {
      dependencies,
      worker: worker ?? null,
      pool_sizes: worker?.pool_sizes ?? POOL_SIZES,
    })
    const { runtime, engine, tracing, issuingOf } = node
    const host = await startIssuerHost(runtime, engine)
    stops.push(host.stop)
    const tasks = node.begin(host.probe)

    const app = makeHttpServer(runtime, worker?.connections ?? CONNECTIONS)
    if (tracing !== null) traceRequests(app, tracing)
    keepOperatorApart(app, settings.operator_url)
    const sandbox_host = makeSandboxHost(runtime, {
      tasks,
      card_host_port: host.port,
      issuingOf,
      onAdvance: async () => undefined,
    })
    mountDoors(app, runtime, engine)
    mountSurfaces(app, surfaces, { runtime, sandbox_host })
    await app.listen({ host: settings.host, port: settings.port })
    stops.push(() => app.close())
    const { port } = app.server.address() as AddressInfo
    return { url: `http://127.0.0.1:${port}`, sandbox_host, runtime, tasks, stop }
  })
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

type SurfaceParts = Pick<RunningService, 'runtime' | 'sandbox_host'>

/** Mounts the routes of the sandbox beside those of the service. */
export function mountSurfaces(
  app: FastifyInstance,
  surfaces: readonly Surface[],
  { runtime, sandbox_host }: SurfaceParts,
): void {
  app.register(async (scope) => {
    scope.addHook('onRequest', async (request, reply) => {
      reply.headers(await standardHeaders(runtime, request))
    })
    for (const mount of surfaces) mount(scope, sandbox_host)
  })
}
