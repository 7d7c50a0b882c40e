import { addPartitionsTask } from '#domain/archive/add_partitions_task.ts'
import { retireEventsTask } from '#domain/archive/retire_events_task.ts'
import { sweepMessagesTask } from '#domain/authorizations/sweep_messages_task.ts'
import { resealPansTask } from '#domain/cards/reseal_pans_task.ts'
import type { Dependencies } from '#domain/context/context.ts'
import { sweepCredentialsTask, touchKeysTask } from '#domain/credentials/sweep_credentials_task.ts'
import { CELL_MOVE_CHANNEL, SWITCHING } from '#domain/directory/cell_move_store.ts'
import { claimDatabase, isClaimed, listCells } from '#domain/directory/cell_store.ts'
import { remindEvidenceTask } from '#domain/disputes/remind_evidence_task.ts'
import { sweepEvidenceTask } from '#domain/disputes/sweep_evidence_task.ts'
import { sweepOauthTask } from '#domain/oauth_grants/sweep_oauth_task.ts'
import { resolvePaymentsTask } from '#domain/paid_calls/resolve_payments_task.ts'
import { sweepVelocitiesTask } from '#domain/risk/velocity.ts'
import { resealSecretsTask } from '#domain/system/reseal_secrets_task.ts'
import { makeRuntime, type Runtime, type SharedLimits } from '#operations/runtime.ts'
import { sweepResponsesTask } from '#operations/sweep_responses_task.ts'
import { followClockOffset } from '#platform/postgres/clock_offset.ts'
import type { DatabaseAddress } from '#platform/postgres/database_address.ts'
import type { Database } from '#platform/postgres/db.ts'
import { degradedBy, type Probes } from '#platform/runtime/health.ts'
import { type Random, systemRandom } from '#platform/runtime/random.ts'
import { runTasks, type Task, type TaskRunner } from '#platform/runtime/tasks.ts'
import { ConfigError } from '#platform/settings/environment.ts'
import { sealFor } from '#platform/storage/key_seal.ts'
import { type Keys, loadKeys } from '#platform/storage/keys.ts'
import { isServed } from '#settings/cell_settings.ts'
import type { Settings } from '#settings/settings.ts'
import { type KnownFindings, watchBooks } from './audit.ts'
import { followingAddress } from './cell_move/follow_move.ts'
import { requireCurrent } from './cell_move/require_current.ts'
import { chainTasks } from './chain_tasks.ts'
import { openDatabases, type PoolSizes } from './databases.ts'
import { makeDependencies } from './dependencies.ts'
import { type IssuerSide, startIssuing } from './issuing.ts'
import { followKillSwitches, type KillSwitchFollower } from './kill_switches.ts'
import { startNotifications } from './notifications.ts'
import { type Tracing, traceDatabases, traceTasks } from './tracing.ts'

/** One database with everything that works on it. */
export type StartedCell = {
  runtime: Runtime
  issuing: IssuerSide
  /** Null for cell 0, whose kill switches the others follow. */
  kill_switches: KillSwitchFollower | null
  /** Starts the background tasks, once the node's card host listens. */
  begin(probe: Probes['issuer'] | null, known: KnownFindings): TaskRunner
}

/** Set in a worker: its parent keeps the limits and runs the tasks of the node. */
export type WorkerOptions = {
  shared_limits: SharedLimits
  /** Wakes the parent's tasks. */
  onCommit(): void
}

export type CellOptions = {
  stops: (() => Promise<void>)[]
  tracing: Tracing | null
  overrides: Partial<Dependencies> | undefined
  /** The runtime of cell 0; null for cell 0 itself. */
  home: Runtime | null
  worker: WorkerOptions | null
  pool_sizes: PoolSizes
}

export async function startCell(
  settings: Settings,
  database_url: string,
  { stops, tracing, overrides, home, worker, pool_sizes }: CellOptions,
): Promise<StartedCell> {
  let tasks: TaskRunner | undefined
  const onCommit = worker?.onCommit ?? (() => tasks?.nudge())
  let log = overrides?.log
  const onMove = () => log?.info('the database is on another server; correct the settings')
  const address = addressOf(settings, database_url, { ...overrides, onMove })
  const pools = { sizes: pool_sizes, migrates: worker === null }
  const opened = await openDatabases(address, { ...overrides, onCommit, ...pools })
  stops.push(opened.db.close, opened.account_pool.close)
  await requireOwnDatabase(opened.db, settings, home)
  const { db, account_pool } = tracing === null ? opened : traceDatabases(opened, tracing)
  const dependencies = await makeDependencies(settings, db, overrides)
  log = dependencies.log
  // The sandbox's clock is one for the node: cell 0 has its offset.
  if (home === null) stops.push(await followClockOffset(db, dependencies.clock))
  const kill_switches = home && (await followHome(home, { ...dependencies, address }))
  if (kill_switches !== null) stops.push(kill_switches.stop)
  const shared_limits = worker?.shared_limits ?? null
  const runtime = await makeRuntime(dependencies, account_pool, { home, shared_limits })
  stops.push(runtime.close)
  const runs_tasks = worker === null && isServed(settings, settings.cell)
  const notifications = runs_tasks ? await startNotifications(runtime) : null
  if (notifications !== null) stops.push(notifications.stop)
  stops.push(await followMoves(db, address))
  const { role, lane_count } = opened
  const issuing = startIssuing(runtime, { address, role, lane_count, onCommit, tracing })
  stops.push(issuing.stop)
  return {
    runtime,
    issuing,
    kill_switches,
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
      const isPartial = home === null && settings.serve_cells !== null
      const run = all.filter(({ name }) => !isPartial || !OVER_ALL_CELLS.has(name))
      tasks = runTasks(tracing === null ? run : traceTasks(run, tracing), runtime)
      stops.push(tasks.stop)
      return tasks
    },
  }
}

function followHome(
  home: Runtime,
  { settings, ...following }: Dependencies & { address: DatabaseAddress },
): Promise<KillSwitchFollower> {
  return followKillSwitches({ ...following, home: home.db, cell: settings.cell })
}

type Follower = { keys?: Keys; random?: Random; onMove(): void }

/** The keys are read only if the database was moved: they open its new address. */
function addressOf(
  { cell, account_database_url, key_file, key_token }: Settings,
  url: string,
  { keys, random = systemRandom, onMove }: Follower,
): DatabaseAddress {
  const account_url = account_database_url?.open() ?? null
  const openKeys = async () => keys ?? loadKeys(key_file, random, sealFor(key_token, random))
  return followingAddress({ url, account_url }, { cell, keys: openKeys, onMove })
}

/**
 * Calls wait only for a switch that is announced. If notifications may be lost, they go on: a
 * database that was moved refuses writes itself.
 */
function followMoves(db: Database, address: DatabaseAddress): Promise<() => Promise<void>> {
  return db.listen(CELL_MOVE_CHANNEL, (payload) => {
    const looked = payload === SWITCHING ? address.find() : address.look()
    looked.catch(() => undefined)
  })
}

/** A wrong URL in the settings must not mix the accounts of two cells. */
async function requireOwnDatabase(
  db: Database,
  { cell }: Settings,
  home: Runtime | null,
): Promise<void> {
  await requireCurrent(db, cell)
  if (home !== null && !(await isClaimed(db))) await requireNewCell(cell, home)
  const found = await claimDatabase(db, cell)
  if (found === cell) return
  throw new ConfigError(
    `The database configured for cell ${cell} belongs to cell ${found}. Correct FLORIN_CELLS.`,
  )
}

/** Nodes create a schema that is missing: an old address must not begin a second cell 1. */
async function requireNewCell(cell: number, home: Runtime): Promise<void> {
  const { accounts = 0n } = (await listCells(home.db)).find(({ number }) => number === cell) ?? {}
  if (accounts === 0n) return
  throw new ConfigError(
    `Cell ${cell} has ${accounts} accounts, but the database configured for it is new. Correct ` +
      'FLORIN_CELLS.',
  )
}

/** Tasks of cell 0 that read all cells; nodes that serve all of them run these. */
const OVER_ALL_CELLS: ReadonlySet<string> = new Set(['prove_books', 'sweep_oauth'])

/** The tasks that a node runs once; every process has its own for the state that it keeps. */
const tasksOf = (runtime: Runtime): Task[] => [
  addPartitionsTask(runtime),
  retireEventsTask(runtime),
  sweepMessagesTask(runtime),
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
