import cluster from 'node:cluster'
import { fileURLToPath } from 'node:url'
import type { Clock } from '#platform/runtime/clock.ts'
import type { Log } from '#platform/runtime/log.ts'
import {
  type Channel,
  openChannel,
  type RequestHandlers,
} from '#platform/runtime/process_channel.ts'
import type {
  ParentRequests,
  Ports,
  ServiceRequests,
  WorkerRequests,
  WorkerStart,
} from './messages.ts'

export type WorkerPool = {
  ports: Ports
  /** The replies of the workers that run and reply in time. */
  ask<Name extends keyof WorkerRequests>(
    name: Name,
    body: WorkerRequests[Name]['body'],
  ): Promise<WorkerRequests[Name]['reply'][]>
  stop(): Promise<void>
}

/** One worker's view of the parent; `release` gives back what it held when it ended. */
export type ServedWorker = { handlers: RequestHandlers<ServiceRequests>; release(): void }

export type PoolOptions = {
  script: URL
  start: Omit<WorkerStart, 'number'>
  serveWorker(): ServedWorker
  /** A worker ended although nobody stopped it. */
  onExit(): void
  clock: Clock
  log: Log
}

/** Workers that don't reply for this long are left out. */
const REPLY_MAX_MS = 2_000

/** Starts all workers and replaces each that ends; fails if one cannot start. */
export async function startWorkers(options: PoolOptions): Promise<WorkerPool> {
  const exec = fileURLToPath(options.script)
  cluster.setupPrimary({ exec, args: [], serialization: 'advanced' })
  const places = Array.from({ length: options.start.count }, (_, at) =>
    superviseWorker(at + 1, options),
  )
  const stop = async () => void (await Promise.all(places.map((place) => place.stop())))
  try {
    const [ports] = await Promise.all(places.map(({ started }) => started))
    return {
      ports: ports as Ports,
      ask: async (name, body) => {
        const asked = places.flatMap(
          ({ channel }) => channel()?.request(name, body, REPLY_MAX_MS) ?? [],
        )
        const settled = await Promise.allSettled(asked)
        return settled.flatMap((each) => (each.status === 'fulfilled' ? [each.value] : []))
      },
      stop,
    }
  } catch (cause) {
    await stop()
    throw cause
  }
}

type LaunchedWorker = {
  started: Promise<Ports>
  ended: Promise<ExitStatus>
  /** Null before the start and after the end. */
  channel(): Channel<WorkerRequests> | null
  stop(): Promise<void>
}
type ExitStatus = { code: number | null; signal: string | null; lived_ms: number }

/** Starts one worker process. */
function launchWorker(number: number, options: PoolOptions): LaunchedWorker {
  const { clock, log, start } = options
  const worker = cluster.fork()
  const served = options.serveWorker()
  let isOpen = () => {}
  const open = new Promise<void>((resolve) => {
    isOpen = resolve
  })
  const channel = openChannel<WorkerRequests, ParentRequests>(worker.process, {
    ...served.handlers,
    opened: () => void isOpen(),
  })
  let isServing = false
  const begun_ms = clock.monotonic()
  const ended = new Promise<ExitStatus>((resolve) => {
    const end = (code: number | null, signal: string | null) => {
      isServing = false
      served.release()
      resolve({ code, signal, lived_ms: clock.monotonic() - begun_ms })
    }
    worker.once('exit', end)
    // A message to a process that just ended, or a process that the system did not create.
    worker.on('error', (cause) => {
      log.error('a worker could not be reached', { of_worker: number }, cause)
      if (worker.process.pid === undefined) end(null, null)
    })
  })
  const startOpened = async () => {
    await Promise.race([open, ended])
    const ports = await channel.request('start', { ...start, number })
    isServing = true
    return ports
  }
  const started = startOpened()
  // A worker that could not start may still wait for something.
  started.catch(() => worker.process.kill('SIGKILL'))
  return {
    started,
    ended,
    channel: () => (isServing ? channel : null),
    stop: async () => {
      if (isServing) channel.notify('stop', null)
      else worker.process.kill('SIGKILL')
      await ended
    },
  }
}

/** A worker that lived this long has not failed at its start. */
const STABLE_MS = 10_000
const DELAY_MIN_MS = 500
const DELAY_MAX_MS = 10_000

/** A single failure is replaced immediately; one that repeats waits longer each time. */
export function restartDelayMs(failures: number): number {
  if (failures <= 1) return 0
  return Math.min(DELAY_MAX_MS, DELAY_MIN_MS * 2 ** (failures - 2))
}

type Place = Pick<LaunchedWorker, 'channel' | 'stop'> & {
  /** Settles with the first start. */
  started: Promise<Ports>
}

/** Keeps one worker running. */
function superviseWorker(number: number, options: PoolOptions): Place {
  const { clock, log } = options
  const stopping = new AbortController()
  let current = launchWorker(number, options)
  let failures = 0

  const replaceWhenEnded = async (): Promise<void> => {
    const { code, signal, lived_ms } = await current.ended
    if (stopping.signal.aborted) return
    options.onExit()
    failures = lived_ms >= STABLE_MS ? 0 : failures + 1
    const delay_ms = restartDelayMs(failures)
    const sentence = delay_ms === 0 ? 'a worker ended' : 'a worker keeps ending'
    const fields = { of_worker: number, code, signal, restarts_in_ms: delay_ms }
    log.error(`${sentence}; another one takes its place`, fields, undefined)
    await clock.sleep(delay_ms, stopping.signal)
    if (stopping.signal.aborted) return
    current = launchWorker(number, options)
    void replaceWhenEnded()
    await current.started.then(
      () => log.info('a worker was replaced', { of_worker: number }),
      (cause) => log.error('a worker could not start', { of_worker: number }, cause),
    )
  }

  const { started } = current
  // If the first start fails, the whole node does.
  void started.then(replaceWhenEnded, () => undefined)
  return {
    started,
    channel: () => current.channel(),
    stop: async () => {
      stopping.abort()
      await current.stop()
    },
  }
}
