import type { Clock } from './clock.ts'
import type { Log } from './log.ts'
import type { Metrics } from './metrics.ts'

/**
 * Background work is state in our own tables, and a task is one pass over what is due: safe to run
 * twice, on any node, at any time. It runs at its interval and on a nudge, one pass at a time.
 */
export type Task = {
  name: string
  every_ms: number
  /**
   * The interval while this node commits nothing, for a task whose work mostly begins with one of
   * this node's own commits. It bounds how late the work of a node that died is done by another.
   */
  idle_ms?: number
  /** What waited while nothing ran is somebody's news: it does not wait for the first beat. */
  at_start?: boolean
  run(): Promise<void>
}

export type TaskRunner = {
  /** This node has committed something: tasks that were idle run now, then at every_ms. */
  nudge(): void
  /** Runs every task once, now; for simulations that decide themselves when time passes. */
  runAll(): Promise<void>
  /** The same for some of them, by name and in their order. */
  run(names: readonly string[]): Promise<void>
  stop(): Promise<void>
}

type Dependencies = { clock: Clock; log: Log; metrics: Metrics }

/** Tasks become idle after so long without a commit: what the last one caused is done by then. */
const QUIET_MS = 5_000

export function runTasks(
  tasks: readonly Task[],
  { clock, log, metrics }: Dependencies,
): TaskRunner {
  const running = new Map<string, Promise<void>>()
  const nudged = new Set<string>()
  let stopped = false
  const run = (task: Task): Promise<void> => {
    const current = running.get(task.name)
    if (current !== undefined || stopped) return current ?? Promise.resolve()
    const once = async () => task.run()
    const next = once()
      .catch((cause: unknown) => {
        metrics.task_failures.inc({ task: task.name })
        log.error('a task failed; it runs again on its next beat', { task: task.name }, cause)
      })
      .finally(() => {
        running.delete(task.name)
        if (nudged.delete(task.name)) void run(task)
      })
    running.set(task.name, next)
    return next
  }
  const inTurn = async (wanted: readonly Task[]): Promise<void> => {
    for (const task of wanted) {
      await running.get(task.name)
      await run(task)
    }
  }
  // A task without an idle interval keeps its timer: begun anew it might never come round.
  const steady = tasks.filter(({ idle_ms }) => idle_ms === undefined)
  const beats = steady.map((task) => clock.every(task.every_ms, () => void run(task)))
  const idling = tasks.filter(({ idle_ms }) => idle_ms !== undefined)
  const pace = keepPace(idling, clock, (task) => void run(task))
  for (const task of tasks) if (task.at_start === true) void run(task)
  return {
    nudge: () => {
      if (stopped || !pace.quicken()) return
      for (const task of idling) {
        // A pass under way may have looked already: the nudge is kept for one more.
        if (running.has(task.name)) nudged.add(task.name)
        else void run(task)
      }
    },
    runAll: () => inTurn(tasks),
    run: (names) => inTurn(tasks.filter(({ name }) => names.includes(name))),
    stop: async () => {
      stopped = true
      for (const cancel of [...beats, pace.stop]) cancel()
      await Promise.all(running.values())
    },
  }
}

type Pace = {
  /** True where the tasks were idle until now. */
  quicken(): boolean
  stop(): void
}

/** Runs tasks at idle_ms, and at every_ms from a commit until a time without any. */
function keepPace(tasks: readonly Task[], clock: Clock, run: (task: Task) => void): Pace {
  let timers: (() => void)[] = []
  let isIdle = true
  let hasCommitted = false
  const stop = () => {
    for (const cancel of timers) cancel()
  }
  const startAt = (intervalOf: (task: Task) => number) => {
    stop()
    timers = tasks.map((task) => clock.every(intervalOf(task), () => run(task)))
  }
  const rest = () => {
    isIdle = true
    startAt(({ idle_ms, every_ms }) => idle_ms ?? every_ms)
  }
  const restUnlessCommitted = () => {
    if (!hasCommitted) rest()
    hasCommitted = false
  }
  rest()
  return {
    quicken: () => {
      hasCommitted = true
      if (!isIdle) return false
      isIdle = false
      startAt(({ every_ms }) => every_ms)
      timers.push(clock.every(QUIET_MS, restUnlessCommitted))
      return true
    },
    stop,
  }
}
