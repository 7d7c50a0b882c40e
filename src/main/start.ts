import type { AddressInfo } from 'node:net'
import { resealPansTask } from '#domain/cards/reseal_pans_task.ts'
import type { Seams } from '#domain/context/context.ts'
import type { Surface, World } from '#domain/context/surface.ts'
import { sweepCredentialsTask, touchKeysTask } from '#domain/credentials/sweep_credentials_task.ts'
import { remindEvidenceTask } from '#domain/disputes/remind_evidence_task.ts'
import { sweepEvidenceTask } from '#domain/disputes/sweep_evidence_task.ts'
import { inboxOf } from '#domain/notices/inbox.ts'
import { sweepOauthTask } from '#domain/oauth_grants/sweep_oauth_task.ts'
import { resolvePaymentsTask } from '#domain/paid_calls/resolve_payments_task.ts'
import { sweepVelocitiesTask } from '#domain/risk/velocity.ts'
import { resealSecretsTask } from '#domain/system/reseal_secrets_task.ts'
import { closeWindow } from '#domain/topups/expire_topups_task.ts'
import { standardHeaders } from '#doors/answer.ts'
import { bearerOf } from '#doors/bearer.ts'
import { mountMcp } from '#doors/mcp/server.ts'
import { mountOauth } from '#doors/oauth/server.ts'
import { calls as operator_calls } from '#doors/operator/calls.ts'
import { mountOperator } from '#doors/operator/operator.ts'
import { keepOperatorApart } from '#doors/operator/own_origin.ts'
import { mountProcessor } from '#doors/processor/processor.ts'
import { mountRest } from '#doors/rest/router.ts'
import { mountSite } from '#doors/site/site.ts'
import { mountThreeDs } from '#doors/three_ds/respond.ts'
import { invoke } from '#operations/invoke.ts'
import { makeProgramme, type Programme } from '#operations/programme.ts'
import { callerOf } from '#operations/steps/authenticate.ts'
import { sweepAnswersTask } from '#operations/sweep_answers_task.ts'
import { startEmbeddedPostgres } from '#platform/embedded_postgres/embedded_postgres.ts'
import { advanceClock, followClockOffset } from '#platform/postgres/clock_offset.ts'
import { degradedBy } from '#platform/runtime/health.ts'
import { runTasks, type Task, type TaskRunner } from '#platform/runtime/tasks.ts'
import type { Settings } from '#platform/settings/settings.ts'
import { proveBooksTask } from './audit.ts'
import { chainTasks } from './chain_tasks.ts'
import { openDatabases } from './databases.ts'
import { makeHttp } from './http.ts'
import { type Issuing, startIssuing } from './issuing.ts'
import { makeSeams } from './seams.ts'
import { startTelling } from './telling.ts'

export type Running = {
  url: string
  world: World
  programme: Programme
  tasks: TaskRunner
  stop(): Promise<void>
}

type Options = { surfaces?: readonly Surface[]; seams?: Partial<Seams> }

/** Builds the parts, starts them from the ground up, and stops them the other way round. */
export async function startService(settings: Settings, options: Options = {}): Promise<Running> {
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

type Stopping = { stops: (() => Promise<void>)[]; stop(): Promise<void> }

async function start(
  settings: Settings,
  options: Options,
  { stops, stop }: Stopping,
): Promise<Running> {
  const database_url = await databaseUrl(settings, stops)
  let tasks: TaskRunner | undefined
  const onCommit = () => tasks?.nudge()
  const connecting = { ...options.seams, onCommit }
  const { db, account_pool, role } = await openDatabases(database_url, settings, connecting)
  stops.push(db.close, account_pool.close)
  const seams = await makeSeams(settings, db, options.seams)
  stops.push(await followClockOffset(db, seams.clock))
  const programme = await makeProgramme(seams, account_pool)
  stops.push(programme.close)
  const telling = await startTelling(programme)
  stops.push(telling.stop)
  const issuing = await startIssuing(programme, { database_url, role, onCommit })
  stops.push(issuing.stop)
  if (options.seams?.probes === undefined)
    programme.probes.issuer = degradedBy(issuing.probe, programme.limiter.fault)
  tasks = runTasks([...issuing.tasks, ...tasksOf(programme), ...telling.tasks], programme)
  stops.push(tasks.stop)

  const app = makeHttp(programme)
  keepOperatorApart(app, settings.operator_url)
  const world = { ...worldOf(programme, tasks), ...issuing.world }
  mountRest(app, programme)
  mountMcp(app, programme)
  mountOauth(app, programme)
  mountSite(app, programme, Object.values(operator_calls))
  mountThreeDs(app, programme)
  mountProcessor(app, programme, issuing.engine)
  mountOperator(app, programme)
  app.register(async (scope) => {
    scope.addHook('onRequest', async (request, reply) => {
      reply.headers(await standardHeaders(programme, request))
    })
    for (const mount of options.surfaces ?? []) mount(scope, world)
  })
  await app.listen({ host: settings.host, port: settings.port })
  stops.push(() => app.close())
  const { port } = app.server.address() as AddressInfo
  return { url: `http://127.0.0.1:${port}`, world, programme, tasks, stop }
}

const tasksOf = (programme: Programme): Task[] => [
  touchKeysTask(programme.key_uses),
  sweepCredentialsTask(programme),
  sweepOauthTask(programme),
  sweepAnswersTask(programme),
  resealPansTask(programme),
  resealSecretsTask(programme),
  remindEvidenceTask(programme),
  sweepEvidenceTask(programme),
  sweepVelocitiesTask(programme),
  proveBooksTask(programme),
  ...chainTasks(programme),
  ...(programme.till === null ? [] : [resolvePaymentsTask(programme.till)]),
]

async function databaseUrl(settings: Settings, stops: (() => Promise<void>)[]): Promise<string> {
  if (settings.database_url !== null) return settings.database_url.open()
  const embedded = await startEmbeddedPostgres({ data_dir: settings.data_dir })
  stops.push(embedded.stop)
  return embedded.url
}

function worldOf(programme: Programme, tasks: TaskRunner): Omit<World, keyof Issuing['world']> {
  return {
    settings: programme.settings,
    clock: programme.clock,
    random: programme.random,
    log: programme.log,
    callerOf: async (authorization) => callerOf(programme, { bearer: bearerOf(authorization) }),
    call: async (operation, input, bearer) => {
      const id = programme.newId('req', programme.clock.now())
      const request = { id, ip: 'local', user_agent: 'florin', header: () => null }
      const readInput = () => structuredClone(input)
      const answer = await invoke(programme, {
        operation,
        bearer: bearer ?? null,
        request,
        readInput,
        is_free: true,
      })
      return { status: answer.status, body: answer.body === '' ? {} : JSON.parse(answer.body) }
    },
    runTasks: tasks.run,
    expireTopup: (account_id, id) => closeWindow(programme, account_id, id),
    inboxOf: (account_id) => inboxOf(programme.db, account_id),
    advanceClock: async (seconds) => {
      await advanceClock(programme.db, programme.clock, seconds)
      await tasks.runAll()
      return programme.clock.now()
    },
  }
}
