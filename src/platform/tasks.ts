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
  pass(): Promise<void>
}

export type TaskRunner = {
  nudge(): void
  /** Runs every task once, now; for simulations that decide themselves when time passes. */
  runAll(): Promise<void>
  stop(): Promise<void>
}

type Seams = { clock: Clock; log: Log; metrics: Metrics }

export function runTasks(tasks: readonly Task[], { clock, log, metrics }: Seams): TaskRunner {
  const running = new Map<string, Promise<void>>()
  let stopped = false
  const pass = (task: Task): Promise<void> => {
    const current = running.get(task.name)
    if (current !== undefined || stopped) return current ?? Promise.resolve()
    const next = task
      .pass()
      .catch((cause: unknown) => {
        metrics.task_failures.inc({ task: task.name })
        log.error('a task failed; it runs again on its next beat', { task: task.name }, cause)
      })
      .finally(() => running.delete(task.name))
    running.set(task.name, next)
    return next
  }
  const beats = tasks.map((task) => clock.every(task.every_ms, () => void pass(task)))
  return {
    nudge: () => {
      for (const task of tasks) void pass(task)
    },
    runAll: async () => {
      for (const task of tasks) {
        await running.get(task.name)
        await pass(task)
      }
    },
    stop: async () => {
      stopped = true
      for (const cancel of beats) cancel()
      await Promise.all(running.values())
    },
  }
}
