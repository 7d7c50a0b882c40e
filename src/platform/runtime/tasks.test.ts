import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setTimeout as wait } from 'node:timers/promises'
import { systemClock } from './clock.ts'
import type { Log } from './log.ts'
import { makeMetrics } from './metrics.ts'
import { runTasks, type Task } from './tasks.ts'

type Timer = { every_ms: number; tick(): void; isCancelled: boolean }

/** Timers fire only when the test calls `tick`. */
function testTimers() {
  const timers: Timer[] = []
  const lines: string[] = []
  const log: Log = { info: () => undefined, error: (message) => lines.push(message) }
  const clock = {
    ...systemClock(),
    every: (every_ms: number, tick: () => void) => {
      const kept: Timer = { every_ms, tick, isCancelled: false }
      timers.push(kept)
      return () => {
        kept.isCancelled = true
      }
    },
  }
  return { timers, lines, dependencies: { clock, log, metrics: makeMetrics(clock) } }
}

/** A task whose runs end when the test calls `end`. */
function heldTask(name = 'held') {
  const ends: (() => void)[] = []
  const counts = { started: 0, concurrent: 0, concurrent_max: 0 }
  const task: Task = {
    name,
    every_ms: 1_000,
    idle_ms: 3_000,
    run: async () => {
      counts.started += 1
      counts.concurrent += 1
      counts.concurrent_max = Math.max(counts.concurrent_max, counts.concurrent)
      await new Promise<void>((resolve) => ends.push(resolve))
      counts.concurrent -= 1
    },
  }
  return { task, counts, end: () => ends.shift()?.() }
}

const failures = async (
  dependencies: ReturnType<typeof testTimers>['dependencies'],
  task: string,
) => {
  const { values } = await dependencies.metrics.task_failures.get()
  return values.find(({ labels }) => labels.task === task)?.value ?? 0
}

test('a task with at_start runs at the start; the others wait for their interval', async () => {
  const { dependencies } = testTimers()
  const ran: string[] = []
  const run = (name: string) => async () => void ran.push(name)
  runTasks(
    [
      { name: 'news', every_ms: 5, at_start: true, run: run('news') },
      { name: 'sweep', every_ms: 5, run: run('sweep') },
    ],
    dependencies,
  )
  await wait(1)
  assert.deepEqual(ran, ['news'])
})

test('each task runs at its own interval', () => {
  const { timers, dependencies } = testTimers()
  let runs = 0
  const count = async () => {
    runs += 1
  }
  runTasks(
    [
      { name: 'a', every_ms: 5, run: count },
      { name: 'b', every_ms: 9, run: count },
    ],
    dependencies,
  )
  assert.deepEqual(
    timers.map(({ every_ms }) => every_ms),
    [5, 9],
  )
  timers[0]?.tick()
  assert.equal(runs, 1)
})

test('runs of one task never overlap, however often it is nudged', async () => {
  const { timers, dependencies } = testTimers()
  const { task, counts, end } = heldTask()
  const runner = runTasks([task], dependencies)
  for (let at = 0; at < 10; at += 1) {
    timers[0]?.tick()
    runner.nudge()
  }
  assert.equal(counts.started, 1)
  for (let at = 0; at < 5; at += 1) {
    end()
    await wait(5)
    timers[0]?.tick()
  }
  assert.equal(counts.concurrent_max, 1)
  assert.ok(counts.started >= 5)
})

test('a commit wakes idle tasks immediately, and they become idle 5 seconds after the last one', () => {
  const { timers, dependencies } = testTimers()
  const ran: string[] = []
  const task = (name: string, idle_ms?: number): Task => ({
    name,
    every_ms: 5,
    ...(idle_ms === undefined ? {} : { idle_ms }),
    run: async () => void ran.push(name),
  })
  const runner = runTasks([task('events', 90), task('hourly')], dependencies)
  const paces = () => timers.filter((one) => !one.isCancelled).map(({ every_ms }) => every_ms)
  const quiet = () => timers.findLast(({ every_ms }) => every_ms === 5_000)
  assert.deepEqual(paces(), [5, 90])
  runner.nudge()
  assert.deepEqual(ran, ['events'], 'a task without an idle interval keeps to its own')
  assert.deepEqual(paces(), [5, 5, 5_000])
  runner.nudge()
  assert.deepEqual(ran, ['events'], 'an awake task is not run for every commit')
  quiet()?.tick()
  runner.nudge()
  quiet()?.tick()
  assert.deepEqual(paces(), [5, 5, 5_000], 'there was a commit since the last check')
  quiet()?.tick()
  assert.deepEqual(paces(), [5, 90])
})

test('a nudge during a run starts one more run after it', async () => {
  const { timers, dependencies } = testTimers()
  const { task, counts, end } = heldTask()
  const runner = runTasks([task], dependencies)
  timers[0]?.tick()
  runner.nudge()
  runner.nudge()
  assert.equal(counts.started, 1)
  end()
  await wait(5)
  assert.equal(counts.started, 2, 'the first run may have read its rows before the nudge')
  end()
  await wait(5)
  assert.equal(counts.started, 2)
})

test('a failed run is counted and logged; other tasks and the next tick are not affected', async () => {
  const { timers, lines, dependencies } = testTimers()
  let others = 0
  const broken = { name: 'broken', every_ms: 1, run: () => Promise.reject(new Error('no')) }
  const rude: Task = {
    name: 'rude',
    every_ms: 1,
    run: () => {
      throw new Error('not even a promise')
    },
  }
  const fine: Task = {
    name: 'fine',
    every_ms: 1,
    run: async () => {
      others += 1
    },
  }
  const runner = runTasks([broken, rude, fine], dependencies)
  await runner.runAll()
  for (const { tick } of timers) tick()
  await runner.runAll()
  assert.equal(await failures(dependencies, 'broken'), 3)
  assert.equal(await failures(dependencies, 'rude'), 3)
  assert.equal(others, 3)
  assert.equal(lines.length, 6)
})

test('runAll resolves after every task has completed a run that began after the call', async () => {
  const { dependencies } = testTimers()
  const { task, counts, end } = heldTask()
  const runner = runTasks([task], dependencies)
  runner.nudge()
  let isOver = false
  const all = runner.runAll().then(() => {
    isOver = true
  })
  end()
  await wait(5)
  assert.equal(counts.started, 2)
  assert.equal(isOver, false)
  end()
  await all
})

test('runAll leaves out a task that skips advances, which its timer and its name still run', async () => {
  const { timers, dependencies } = testTimers()
  let runs = 0
  const check: Task = {
    name: 'check',
    every_ms: 1_000,
    skips_advances: true,
    run: async () => {
      runs += 1
    },
  }
  const runner = runTasks([check], dependencies)
  await runner.runAll()
  assert.equal(runs, 0)
  await runner.run(['check'])
  timers[0]?.tick()
  assert.equal(runs, 2)
  await runner.stop()
})

test('stop cancels the timers, waits for the current run and starts no other', async () => {
  const { timers, dependencies } = testTimers()
  const { task, counts, end } = heldTask()
  const runner = runTasks([task], dependencies)
  runner.nudge()
  let isStopped = false
  const stopped = runner.stop().then(() => {
    isStopped = true
  })
  await wait(5)
  assert.equal(isStopped, false)
  assert.ok(timers.every(({ isCancelled }) => isCancelled))
  end()
  await stopped
  timers[0]?.tick()
  runner.nudge()
  await runner.runAll()
  assert.equal(counts.started, 1)
})

test('a stop ends a long run between two of its steps, and it does not count as failed', async () => {
  const { lines, dependencies } = testTimers()
  let steps = 0
  const runner = runTasks(
    [
      {
        name: 'long',
        every_ms: 1_000,
        at_start: true,
        run: async (stopping) => {
          for (;;) {
            stopping?.throwIfAborted()
            steps += 1
            await wait(1)
          }
        },
      },
    ],
    dependencies,
  )
  await wait(20)
  await runner.stop()
  assert(steps > 0)
  assert.deepEqual(lines, [])
  assert.equal(await failures(dependencies, 'long'), 0)
})
