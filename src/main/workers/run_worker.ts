import type { ForwardedRequest, ForwardedResponse, Surface } from '#domain/context/surface.ts'
import { CONNECTIONS } from '#main/connection_limits.ts'
import { poolSizesOf } from '#main/databases.ts'
import { type RunningService, startService } from '#main/start.ts'
import manifest from '#package.json' with { type: 'json' }
import { type Clock, systemClock } from '#platform/runtime/clock.ts'
import type { Log } from '#platform/runtime/log.ts'
import { makeMetrics } from '#platform/runtime/metrics.ts'
import { type Channel, openChannel } from '#platform/runtime/process_channel.ts'
import { ConfigError } from '#platform/settings/environment.ts'
import type { Settings } from '#settings/settings.ts'
import {
  type ParentRequests,
  type Ports,
  type WorkerRequests,
  type WorkerStart,
  withSentSettings,
} from './messages.ts'
import { limitsOfParent } from './shared_limits.ts'

export type WorkerOptions = {
  readSettings(): Settings
  openLog(settings: Settings, start: WorkerStart, clock: Clock): Promise<Log>
  /** Routes that the parent serves; `forward` sends it a request. */
  surfacesOf(
    settings: Settings,
    forward: (request: ForwardedRequest) => Promise<ForwardedResponse>,
  ): readonly Surface[]
}

/**
 * A worker: serves calls and card messages on the ports of its node. Its parent starts and stops
 * it, and Node ends it when the parent is gone.
 */
export function runWorker(options: WorkerOptions): void {
  const clock = systemClock()
  let running: RunningService | null = null
  const parent: Channel<ParentRequests> = openChannel<ParentRequests, WorkerRequests>(process, {
    start: async (start) => {
      requireSameVersion(start)
      running = await startWorker(options, start, { clock, parent })
      return portsOf(running)
    },
    stop: async () => {
      await running?.stop()
      process.exit(0)
    },
    read_metrics: async () => (await running?.runtime.metrics.registry.getMetricsAsJSON()) ?? [],
    set_clock: (offset_ms) => void clock.setOffset(offset_ms),
  })
  // A terminal signals the whole process group, but the parent decides when workers stop.
  process.on('SIGINT', () => undefined)
  process.on('SIGTERM', () => undefined)
  parent.notify('opened', null)
}

/** A replacement may find another version on the disk, whose schema the node does not have. */
function requireSameVersion({ version }: WorkerStart): void {
  if (version === manifest.version) return
  throw new ConfigError(
    `Version ${manifest.version} was installed while ${version} runs. Restart the service.`,
  )
}

const portsOf = ({ url, sandbox_host }: RunningService): Ports => ({
  port: Number(new URL(url).port),
  card_host_port: sandbox_host.card_host_port,
})

type WorkerLink = { clock: Clock; parent: Channel<ParentRequests> }

async function startWorker(
  { readSettings, openLog, surfacesOf }: WorkerOptions,
  start: WorkerStart,
  { clock, parent }: WorkerLink,
): Promise<RunningService> {
  const { number, count } = start
  const shareOf = (limit: number) => Math.max(1, Math.floor(limit / count))
  const own = withSentSettings(readSettings(), start.settings)
  const settings = { ...own, iso_connections_max: shareOf(own.iso_connections_max) }
  const log = await openLog(settings, start, clock)
  const metrics = makeMetrics(clock)
  metrics.registry.setDefaultLabels({ worker: number })
  return startService(settings, {
    surfaces: surfacesOf(settings, (request) => parent.request('forward', request)),
    dependencies: {
      clock,
      log,
      metrics: { ...metrics, text: () => parent.request('collect_metrics', null) },
    },
    worker: {
      pool_sizes: poolSizesOf(count),
      shared_limits: limitsOfParent(parent),
      onCommit: notifyCommits(parent, clock),
      // Connections are spread evenly over the workers.
      connections: { total: shareOf(CONNECTIONS.total), address: shareOf(CONNECTIONS.address) },
    },
  })
}

/** Once awake, the parent's tasks stay so for some seconds. */
const COMMITTED_EVERY_MS = 1_000

function notifyCommits(parent: Channel<ParentRequests>, { monotonic }: Clock): () => void {
  let notified_ms = Number.NEGATIVE_INFINITY
  return () => {
    if (monotonic() - notified_ms < COMMITTED_EVERY_MS) return
    notified_ms = monotonic()
    parent.notify('committed', null)
  }
}
