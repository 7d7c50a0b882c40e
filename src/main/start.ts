import type { AddressInfo } from 'node:net'
import type { FastifyInstance } from 'fastify'
import type { Engine } from '#domain/authorizations/engine.ts'
import { resealPansTask } from '#domain/cards/reseal_pans_task.ts'
import type { Dependencies } from '#domain/context/context.ts'
import type { SandboxHost, Surface } from '#domain/context/surface.ts'
import { sweepCredentialsTask, touchKeysTask } from '#domain/credentials/sweep_credentials_task.ts'
import { remindEvidenceTask } from '#domain/disputes/remind_evidence_task.ts'
import { sweepEvidenceTask } from '#domain/disputes/sweep_evidence_task.ts'
import { inboxOf } from '#domain/notices/inbox.ts'
import { sweepOauthTask } from '#domain/oauth_grants/sweep_oauth_task.ts'
import { resolvePaymentsTask } from '#domain/paid_calls/resolve_payments_task.ts'
import { sweepVelocitiesTask } from '#domain/risk/velocity.ts'
import { resealSecretsTask } from '#domain/system/reseal_secrets_task.ts'
import { closeWindow } from '#domain/topups/expire_topups_task.ts'
import { mountMcp } from '#doors/mcp/server.ts'
import { mountOauth } from '#doors/oauth/server.ts'
import { mountOperator } from '#doors/operator/operator.ts'
import { keepOperatorApart } from '#doors/operator/own_origin.ts'
import { mountProcessor } from '#doors/processor/processor.ts'
import { mountRest } from '#doors/rest/router.ts'
import { standardHeaders } from '#doors/send_problem.ts'
import { mountSite } from '#doors/site/site.ts'
import { mountThreeDs } from '#doors/three_ds/respond.ts'
import { bearerOf } from '#kernel/bearer.ts'
import { invoke } from '#operations/invoke.ts'
import { makeRuntime, type Runtime } from '#operations/runtime.ts'
import { callerOf } from '#operations/steps/authenticate.ts'
import { sweepResponsesTask } from '#operations/sweep_responses_task.ts'
import { startEmbeddedPostgres } from '#platform/embedded_postgres/embedded_postgres.ts'
import { advanceClock, followClockOffset } from '#platform/postgres/clock_offset.ts'
import { degradedBy } from '#platform/runtime/health.ts'
import { runTasks, type Task, type TaskRunner } from '#platform/runtime/tasks.ts'
import type { Settings } from '#settings/settings.ts'
import { proveBooksTask } from './audit.ts'
import { chainTasks } from './chain_tasks.ts'
import { openDatabases } from './databases.ts'
import { makeDependencies } from './dependencies.ts'
import { makeHttpServer } from './http.ts'
import { type Issuing, startIssuing } from './issuing.ts'
import { startNotifications } from './notifications.ts'

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
  let tasks: TaskRunner | undefined
  const onCommit = () => tasks?.nudge()
  const { db, account_pool, role } = await openDatabases(database_url, settings, {
    ...options.dependencies,
    onCommit,
  })
  stops.push(db.close, account_pool.close)
  const dependencies = await makeDependencies(settings, db, options.dependencies)
  stops.push(await followClockOffset(db, dependencies.clock))
  const runtime = await makeRuntime(dependencies, account_pool)
  stops.push(runtime.close)
  const notifications = await startNotifications(runtime)
  stops.push(notifications.stop)
  const issuing = await startIssuing(runtime, { database_url, role, onCommit })
  stops.push(issuing.stop)
  if (options.dependencies?.probes === undefined)
    runtime.probes.issuer = degradedBy(issuing.probe, runtime.limiter.fault)
  tasks = runTasks([...issuing.tasks, ...tasksOf(runtime), ...notifications.tasks], runtime)
  stops.push(tasks.stop)

  const app = makeHttpServer(runtime)
  keepOperatorApart(app, settings.operator_url)
  const sandbox_host = { ...makeSandboxHost(runtime, tasks), ...issuing.sandbox_host }
  mountDoors(app, runtime, issuing.engine)
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

const tasksOf = (runtime: Runtime): Task[] => [
  touchKeysTask(runtime.key_uses),
  sweepCredentialsTask(runtime),
  sweepOauthTask(runtime),
  sweepResponsesTask(runtime),
  resealPansTask(runtime),
  resealSecretsTask(runtime),
  remindEvidenceTask(runtime),
  sweepEvidenceTask(runtime),
  sweepVelocitiesTask(runtime),
  proveBooksTask(runtime),
  ...chainTasks(runtime),
  ...(runtime.payment_context === null ? [] : [resolvePaymentsTask(runtime.payment_context)]),
]

async function databaseUrl(settings: Settings, stops: (() => Promise<void>)[]): Promise<string> {
  if (settings.database_url !== null) return settings.database_url.open()
  const embedded = await startEmbeddedPostgres({ data_dir: settings.data_dir })
  stops.push(embedded.stop)
  return embedded.url
}

function makeSandboxHost(
  runtime: Runtime,
  tasks: TaskRunner,
): Omit<SandboxHost, keyof Issuing['sandbox_host']> {
  return {
    settings: runtime.settings,
    clock: runtime.clock,
    random: runtime.random,
    log: runtime.log,
    callerOf: async (authorization) => callerOf(runtime, { bearer: bearerOf(authorization) }),
    call: async (operation, input, bearer) => {
      const id = runtime.newId('req', runtime.clock.now())
      const request = {
        id,
        ip: 'local',
        user_agent: 'florin',
        idempotency_key: null,
        header: () => null,
      }
      const readInput = () => structuredClone(input)
      const answer = await invoke(runtime, {
        operation,
        bearer: bearer ?? null,
        request,
        readInput,
        is_free: true,
      })
      return { status: answer.status, body: answer.body === '' ? {} : JSON.parse(answer.body) }
    },
    runTasks: tasks.run,
    expireTopup: (account_id, id) => closeWindow(runtime, account_id, id),
    inboxOf: (account_id) => inboxOf(runtime.db, account_id),
    advanceClock: async (seconds) => {
      await advanceClock(runtime.db, runtime.clock, seconds)
      await tasks.runAll()
      return runtime.clock.now()
    },
  }
}
