import type { Clock } from './clock.ts'
import type { Log } from './log.ts'
import type { Metrics } from './metrics.ts'

/**
 * Background work is state in our own tables, and a task is one pass over what is due: safe to run
 * twice, on any node, at any time. It runs on a beat and on a nudge, one pass at a time.
 */
export type Task = {
  name: string
  every_ms: number
  /** What waited while nothing ran is somebody's news: it does not wait for the first beat. */
  at_start?: boolean
  pass(): Promise<void>
}

export type TaskRunner = {
  nudge(): void
  /** Runs every task once, now; for simulations that decide themselves when time passes. */
  runAll(): Promise<void>
  /** The same for some of them, by name and in their order. */
  run(names: readonly string[]): Promise<void>
  stop(): Promise<void>
}

type Seams = { clock: Clock; log: Log; metrics: Metrics }

export function runTasks(tasks: readonly Task[], { clock, log, metrics }: Seams): TaskRunner {
  const running = new Map<string, Promise<void>>()
  const nudged = new Set<string>()
  let stopped = false
  const pass = (task: Task): Promise<void> => {
    const current = running.get(task.name)
    if (current !== undefined || stopped) return current ?? Promise.resolve()
    const once = async () => task.pass()
    const next = once()
      .catch((cause: unknown) => {
        metrics.task_failures.inc({ task: task.name })
        log.error('a task failed; it runs again on its next beat', { task: task.name }, cause)
      })
      .finally(() => {
        running.delete(task.name)
        if (nudged.delete(task.name)) void pass(task)
      })
    running.set(task.name, next)
    return next
  }
  const inTurn = async (wanted: readonly Task[]): Promise<void> => {
    for (const task of wanted) {
      await running.get(task.name)
      await pass(task)
    }
  }
  const beats = tasks.map((task) => clock.every(task.every_ms, () => void pass(task)))
  for (const task of tasks) if (task.at_start === true) void pass(task)
  return {
    nudge: () => {
      for (const task of tasks) {
        // A pass under way may have looked already: the nudge is kept for one more.
        if (running.has(task.name)) nudged.add(task.name)
        else void pass(task)
      }
    },
    runAll: () => inTurn(tasks),
    run: (names) => inTurn(tasks.filter(({ name }) => names.includes(name))),
    stop: async () => {
      stopped = true
      for (const cancel of beats) cancel()
      await Promise.all(running.values())
    },
  }
}
