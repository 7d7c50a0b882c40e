import type { Clock } from './clock.ts'
import type { Log } from './log.ts'
import type { Metrics } from './metrics.ts'

/**
 * Background work is state in our tables, and a run of a task processes all due rows: safe to run
 * twice, on any node, at any time. A task runs at its interval and when nudged, one run at a time.
 */
export type Task = {
  name: string
  every_ms: number
  /**
   * The interval while this node commits nothing, for tasks whose work mostly begins with a commit
   * of the same node. It limits how late another node takes over the work of a node that died.
   */
  idle_ms?: number
  /** Runs at the start too, for work that has waited while no node was running. */
  at_start?: boolean
  /** True for checks that change nothing customers see: too slow to repeat at every advance. */
  skips_advances?: boolean
  /** A long run looks at the signal between its steps, so that the service can stop. */
  run(stopping?: AbortSignal): Promise<void>
}

export type TaskRunner = {
  /** Call it after a commit: idle tasks run now, and then at every_ms. */
  nudge(): void
  /** Runs what an advanced clock may have made due, once, now; for the sandbox and tests. */
  runAll(): Promise<void>
  /** Runs the named tasks once, now, in the order of the list of tasks. */
  run(names: readonly string[]): Promise<void>
  stop(): Promise<void>
}

type RunnerDependencies = { clock: Clock; log: Log; metrics: Metrics }

/** Tasks become idle this long after the last commit, when its work is done. */
const IDLE_AFTER_MS = 5_000

export function runTasks(
  tasks: readonly Task[],
  { clock, log, metrics }: RunnerDependencies,
): TaskRunner {
  const in_progress = new Map<string, Promise<void>>()
  const nudged = new Set<string>()
  const stopping = new AbortController()
  const { signal } = stopping
  const run = (task: Task): Promise<void> => {
    const current = in_progress.get(task.name)
    if (current !== undefined || signal.aborted) return current ?? Promise.resolve()
    const once = async () => task.run(signal)
    const next = once()
      .catch((cause: unknown) => {
        if (signal.aborted && cause === signal.reason) return
        metrics.task_failures.inc({ task: task.name })
        log.error('a task failed; it runs again at its next tick', { task: task.name }, cause)
      })
      .finally(() => {
        in_progress.delete(task.name)
        if (nudged.delete(task.name)) void run(task)
      })
    in_progress.set(task.name, next)
    return next
  }
  const runInOrder = async (selected: readonly Task[]): Promise<void> => {
    for (const task of selected) {
      await in_progress.get(task.name)
      await run(task)
    }
  }
  // A task without an idle interval keeps its timer: restarted often, it might never fire.
  const steady_tasks = tasks.filter(({ idle_ms }) => idle_ms === undefined)
  const timers = steady_tasks.map((task) => clock.every(task.every_ms, () => void run(task)))
  const idle_tasks = tasks.filter(({ idle_ms }) => idle_ms !== undefined)
  const pacer = startPacer(idle_tasks, clock, (task) => void run(task))
  for (const task of tasks) if (task.at_start === true) void run(task)
  return {
    nudge: () => {
      if (signal.aborted || !pacer.wake()) return
      for (const task of idle_tasks) {
        // The current run may have read its rows already, so another one follows it.
        if (in_progress.has(task.name)) nudged.add(task.name)
        else void run(task)
      }
    },
    runAll: () => runInOrder(tasks.filter(({ skips_advances }) => skips_advances !== true)),
    run: (names) => runInOrder(tasks.filter(({ name }) => names.includes(name))),
    stop: async () => {
      stopping.abort()
      for (const cancel of [...timers, pacer.stop]) cancel()
      await Promise.all(in_progress.values())
    },
  }
}

type Pacer = {
  /** Returns true if the tasks were idle until now. */
  wake(): boolean
  stop(): void
}

/** Runs tasks at idle_ms, or at every_ms while this node commits. */
function startPacer(tasks: readonly Task[], clock: Clock, run: (task: Task) => void): Pacer {
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
  const goIdle = () => {
    isIdle = true
    startAt(({ idle_ms, every_ms }) => idle_ms ?? every_ms)
  }
  const goIdleUnlessCommitted = () => {
    if (!hasCommitted) goIdle()
    hasCommitted = false
  }
  goIdle()
  return {
    wake: () => {
      hasCommitted = true
      if (!isIdle) return false
      isIdle = false
      startAt(({ every_ms }) => every_ms)
      timers.push(clock.every(IDLE_AFTER_MS, goIdleUnlessCommitted))
      return true
    },
    stop,
  }
}
