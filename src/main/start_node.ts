import type { Engine } from '#domain/authorizations/engine.ts'
import type { Dependencies } from '#domain/context/context.ts'
import type { Runtime } from '#operations/runtime.ts'
import { startEmbeddedPostgres } from '#platform/embedded_postgres/embedded_postgres.ts'
import { systemClock } from '#platform/runtime/clock.ts'
import type { Probes } from '#platform/runtime/health.ts'
import { type Log, silentLog } from '#platform/runtime/log.ts'
import { systemRandom } from '#platform/runtime/random.ts'
import type { TaskRunner } from '#platform/runtime/tasks.ts'
import { isServed } from '#settings/cell_settings.ts'
import type { Settings } from '#settings/settings.ts'
import { requirePayableCells, startOtherCells } from './cells.ts'
import type { IssuerSide } from './issuing.ts'
import { routeMessages } from './route_messages.ts'
import { allTasks } from './sandbox_host.ts'
import { type CellOptions, startCell } from './start_cell.ts'
import { startTracing, type Tracing } from './tracing.ts'

/** The functions that stop what was started, in the order of the starts. */
export type Stops = (() => Promise<void>)[]

/** The databases and everything that works on them, before anything listens. */
export type StartedNode = {
  runtime: Runtime
  /** The database of cell 0. */
  database_url: string
  engine: Engine
  tracing: Tracing | null
  issuingOf(cell: number): IssuerSide
  /** Starts the background tasks. `probe` is null if this process has no card host. */
  begin(probe: Probes['issuer'] | null): TaskRunner
}

type NodeOptions = Pick<CellOptions, 'worker' | 'pool_sizes'> & {
  dependencies: Partial<Dependencies> | undefined
}

export async function startNode(
  settings: Settings,
  stops: Stops,
  { dependencies: overrides, worker, pool_sizes }: NodeOptions,
): Promise<StartedNode> {
  requirePayableCells(settings)
  const database_url = await databaseUrl(settings, stops)
  let log: Log = silentLog
  const tracing = startTracing(settings, {
    clock: overrides?.clock ?? systemClock(),
    random: overrides?.random ?? systemRandom,
    onFailure: (cause) => log.error('traces could not be exported', {}, cause),
  })
  if (tracing !== null) stops.push(tracing.stop)
  const parts = { stops, tracing, worker, pool_sizes }
  const home = await startCell(settings, database_url, { ...parts, overrides, home: null })
  const { runtime } = home
  log = runtime.log
  const others = await startOtherCells(settings, home, parts)
  return {
    runtime,
    database_url,
    engine: routeMessages(home.issuing.engine, {
      ...others,
      clock: runtime.clock,
      serves_home: isServed(settings, 0),
    }),
    tracing,
    issuingOf: (number) => (others.started.get(number) ?? home).issuing,
    begin: (probe) => {
      const used_probe = overrides?.probes === undefined ? probe : null
      const known_findings = new Map()
      const runners = [home, ...others.started.values()].map((cell) =>
        cell.begin(used_probe, known_findings),
      )
      others.onStart((cell) => void runners.push(cell.begin(used_probe, known_findings)))
      return allTasks(runners)
    },
  }
}

async function databaseUrl(settings: Settings, stops: Stops): Promise<string> {
  if (settings.database_url !== null) return settings.database_url.open()
  const embedded = await startEmbeddedPostgres({ data_dir: settings.data_dir })
  stops.push(embedded.stop)
  return embedded.url
}

/** Runs the start; if it fails, stops what it has started. */
export async function startOrStop<Started>(
  start: (stops: Stops, stop: () => Promise<void>) => Promise<Started>,
): Promise<Started> {
  const stops: Stops = []
  const stop = async () => {
    for (const each of stops.splice(0).reverse()) await each()
  }
  try {
    return await start(stops, stop)
  } catch (cause) {
    await stop()
    throw cause
  }
}
