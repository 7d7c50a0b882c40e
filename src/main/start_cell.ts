import { resealPansTask } from '#domain/cards/reseal_pans_task.ts'
import type { Dependencies } from '#domain/context/context.ts'
import { sweepCredentialsTask, touchKeysTask } from '#domain/credentials/sweep_credentials_task.ts'
import { claimDatabase } from '#domain/directory/cell_store.ts'
import { remindEvidenceTask } from '#domain/disputes/remind_evidence_task.ts'
import { sweepEvidenceTask } from '#domain/disputes/sweep_evidence_task.ts'
import { sweepOauthTask } from '#domain/oauth_grants/sweep_oauth_task.ts'
import { resolvePaymentsTask } from '#domain/paid_calls/resolve_payments_task.ts'
import { sweepVelocitiesTask } from '#domain/risk/velocity.ts'
import { resealSecretsTask } from '#domain/system/reseal_secrets_task.ts'
import { makeRuntime, type Runtime, type SharedLimits } from '#operations/runtime.ts'
import { sweepResponsesTask } from '#operations/sweep_responses_task.ts'
import { followClockOffset } from '#platform/postgres/clock_offset.ts'
import type { Database } from '#platform/postgres/db.ts'
import { degradedBy, type Probes } from '#platform/runtime/health.ts'
import { runTasks, type Task, type TaskRunner } from '#platform/runtime/tasks.ts'
import { ConfigError } from '#platform/settings/environment.ts'
import type { Settings } from '#settings/settings.ts'
import { type KnownFindings, watchBooks } from './audit.ts'
import { chainTasks } from './chain_tasks.ts'
import { openDatabases, type PoolSizes } from './databases.ts'
import { makeDependencies } from './dependencies.ts'
import { type Issuing, startIssuing } from './issuing.ts'
import { startNotifications } from './notifications.ts'
import { type Tracing, traceDatabases, traceTasks } from './tracing.ts'

/** One database with everything that works on it. */
export type StartedCell = {
  runtime: Runtime
  issuing: Issuing
  /** Starts the background tasks, once the node's card host listens. */
  begin(probe: Probes['issuer'] | null, known: KnownFindings): TaskRunner
}

/** Set in a worker: its parent keeps the limits and runs the tasks of the node. */
export type WorkerParts = {
  pool_sizes: PoolSizes
  shared_limits: SharedLimits
  /** Wakes the parent's tasks. */
  onCommit(): void
}

export type CellParts = {
  stops: (() => Promise<void>)[]
  tracing: Tracing | null
  overrides: Partial<Dependencies> | undefined
  /** The runtime of cell 0; null for cell 0 itself. */
  home: Runtime | null
  worker: WorkerParts | null
}

export async function startCell(
  settings: Settings,
  database_url: string,
  { stops, tracing, overrides, home, worker }: CellParts,
): Promise<StartedCell> {
  let tasks: TaskRunner | undefined
  const onCommit = worker?.onCommit ?? (() => tasks?.nudge())
  const worker_pools = worker?.pool_sizes ?? null
  const opening = { ...overrides, onCommit, worker_pools }
  const opened = await openDatabases(database_url, settings, opening)
  stops.push(opened.db.close, opened.account_pool.close)
  await requireOwnDatabase(opened.db, settings)
  const { db, account_pool } = tracing === null ? opened : traceDatabases(opened, tracing)
  const dependencies = await makeDependencies(settings, db, overrides)
  // The sandbox's clock is one for the node: cell 0 has its offset.
  if (home === null) stops.push(await followClockOffset(db, dependencies.clock))
  const shared_limits = worker?.shared_limits ?? null
  const runtime = await makeRuntime(dependencies, account_pool, { home, shared_limits })
  stops.push(runtime.close)
  const notifications = worker === null ? await startNotifications(runtime) : null
  if (notifications !== null) stops.push(notifications.stop)
  const { role, lane_count } = opened
  const issuing = startIssuing(runtime, { database_url, role, lane_count, onCommit, tracing })
  stops.push(issuing.stop)
  return {
    runtime,
    issuing,
    begin: (probe, known) => {
      if (probe !== null) runtime.probes.issuer = degradedBy(probe, runtime.limiter.fault)
      const books = watchBooks(runtime, known)
      runtime.probes.rails = degradedBy(runtime.probes.rails, books.fault)
      const own = [touchKeysTask(runtime.key_uses), books.read_task]
      // The books are proven last: the sandbox runs all tasks in this order after it moved the
      // clock.
      const all =
        notifications === null
          ? own
          : [...issuing.tasks, ...tasksOf(runtime), ...notifications.tasks, books.task, ...own]
      tasks = runTasks(tracing === null ? all : traceTasks(all, tracing), runtime)
      stops.push(tasks.stop)
      return tasks
    },
  }
}

/** A wrong URL in the settings must not mix the accounts of two cells. */
async function requireOwnDatabase(db: Database, { cell }: Settings): Promise<void> {
  const found = await claimDatabase(db, cell)
  if (found === cell) return
  throw new ConfigError(
    `The database configured for cell ${cell} belongs to cell ${found}. Correct FLORIN_CELLS.`,
  )
}

/** The tasks that a node runs once; every process has its own for the state that it keeps. */
const tasksOf = (runtime: Runtime): Task[] => [
  sweepCredentialsTask(runtime),
  sweepOauthTask(runtime),
  sweepResponsesTask(runtime),
  resealPansTask(runtime),
  resealSecretsTask(runtime),
  remindEvidenceTask(runtime),
  sweepEvidenceTask(runtime),
  sweepVelocitiesTask(runtime),
  ...chainTasks(runtime),
  ...(runtime.payment_context === null ? [] : [resolvePaymentsTask(runtime.payment_context)]),
]
