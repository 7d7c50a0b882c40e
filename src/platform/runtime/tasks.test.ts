import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setTimeout as wait } from 'node:timers/promises'
import { systemClock } from './clock.ts'
import type { Log } from './log.ts'
import { makeMetrics } from './metrics.ts'
import { runTasks, type Task } from './tasks.ts'

type Beat = { every_ms: number; beat(): void; isCancelled: boolean }

/** Beats only when the test says so. */
function world() {
  const beats: Beat[] = []
  const lines: string[] = []
  const log: Log = { info: () => undefined, error: (message) => lines.push(message) }
  const clock = {
    ...systemClock(),
    every: (every_ms: number, beat: () => void) => {
      const kept: Beat = { every_ms, beat, isCancelled: false }
      beats.push(kept)
      return () => {
        kept.isCancelled = true
      }
    },
  }
  return { beats, lines, dependencies: { clock, log, metrics: makeMetrics() } }
}

/** A task whose passes end when the test lets them. */
function heldTask(name = 'held') {
  const ends: (() => void)[] = []
  const counts = { begun: 0, at_once: 0, at_once_max: 0 }
  const task: Task = {
    name,
    every_ms: 1_000,
    idle_ms: 3_000,
    run: async () => {
      counts.begun += 1
      counts.at_once += 1
      counts.at_once_max = Math.max(counts.at_once_max, counts.at_once)
      await new Promise<void>((resolve) => ends.push(resolve))
      counts.at_once -= 1
    },
  }
  return { task, counts, end: () => ends.shift()?.() }
}

const failures = async (dependencies: ReturnType<typeof world>['dependencies'], task: string) => {
  const { values } = await dependencies.metrics.task_failures.get()
  return values.find(({ labels }) => labels.task === task)?.value ?? 0
}

test('a task that says so runs at the start, and the others wait for their beats', async () => {
  const { dependencies } = world()
  const passed: string[] = []
  const run = (name: string) => async () => void passed.push(name)
  runTasks(
    [
      { name: 'news', every_ms: 5, at_start: true, run: run('news') },
      { name: 'sweep', every_ms: 5, run: run('sweep') },
    ],
    dependencies,
  )
  await wait(1)
  assert.deepEqual(passed, ['news'])
})

test('each task runs on its own beat', () => {
  const { beats, dependencies } = world()
  let passes = 0
  const count = async () => {
    passes += 1
  }
  runTasks(
    [
      { name: 'a', every_ms: 5, run: count },
      { name: 'b', every_ms: 9, run: count },
    ],
    dependencies,
  )
  assert.deepEqual(
    beats.map(({ every_ms }) => every_ms),
    [5, 9],
  )
  beats[0]?.beat()
  assert.equal(passes, 1)
})

test('passes of one task never overlap, however often it is asked for', async () => {
  const { beats, dependencies } = world()
  const { task, counts, end } = heldTask()
  const runner = runTasks([task], dependencies)
  for (let at = 0; at < 10; at += 1) {
    beats[0]?.beat()
    runner.nudge()
  }
  assert.equal(counts.begun, 1)
  for (let at = 0; at < 5; at += 1) {
    end()
    await wait(5)
    beats[0]?.beat()
  }
  assert.equal(counts.at_once_max, 1)
  assert.ok(counts.begun >= 5)
})

test('a commit wakes idle tasks at once, and they rest again only after a time without any', () => {
  const { beats, dependencies } = world()
  const passed: string[] = []
  const task = (name: string, idle_ms?: number): Task => ({
    name,
    every_ms: 5,
    ...(idle_ms === undefined ? {} : { idle_ms }),
    run: async () => void passed.push(name),
  })
  const runner = runTasks([task('events', 90), task('hourly')], dependencies)
  const paces = () => beats.filter((one) => !one.isCancelled).map(({ every_ms }) => every_ms)
  const quiet = () => beats.findLast(({ every_ms }) => every_ms === 5_000)
  assert.deepEqual(paces(), [5, 90])
  runner.nudge()
  assert.deepEqual(passed, ['events'], 'a task without an idle interval keeps to its own')
  assert.deepEqual(paces(), [5, 5, 5_000])
  runner.nudge()
  assert.deepEqual(passed, ['events'], 'an awake task is not run for every commit')
  quiet()?.beat()
  runner.nudge()
  quiet()?.beat()
  assert.deepEqual(paces(), [5, 5, 5_000], 'something was committed meanwhile')
  quiet()?.beat()
  assert.deepEqual(paces(), [5, 90])
})

test('a nudge that comes during a pass is heard: another pass follows it', async () => {
  const { beats, dependencies } = world()
  const { task, counts, end } = heldTask()
  const runner = runTasks([task], dependencies)
  beats[0]?.beat()
  runner.nudge()
  runner.nudge()
  assert.equal(counts.begun, 1)
  end()
  await wait(5)
  assert.equal(counts.begun, 2, 'what the nudges were about may have come after the first look')
  end()
  await wait(5)
  assert.equal(counts.begun, 2)
})

test('a failing pass is counted and logged, the others and the next beat go on', async () => {
  const { beats, lines, dependencies } = world()
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
  for (const { beat } of beats) beat()
  await runner.runAll()
  assert.equal(await failures(dependencies, 'broken'), 3)
  assert.equal(await failures(dependencies, 'rude'), 3)
  assert.equal(others, 3)
  assert.equal(lines.length, 6)
})

test('runAll ends after every task has made a whole pass that began after the call', async () => {
  const { dependencies } = world()
  const { task, counts, end } = heldTask()
  const runner = runTasks([task], dependencies)
  runner.nudge()
  let isOver = false
  const all = runner.runAll().then(() => {
    isOver = true
  })
  end()
  await wait(5)
  assert.equal(counts.begun, 2)
  assert.equal(isOver, false)
  end()
  await all
})

test('stop cancels the beats, waits for the pass under way and lets none begin after it', async () => {
  const { beats, dependencies } = world()
  const { task, counts, end } = heldTask()
  const runner = runTasks([task], dependencies)
  runner.nudge()
  let isStopped = false
  const stopped = runner.stop().then(() => {
    isStopped = true
  })
  await wait(5)
  assert.equal(isStopped, false)
  assert.ok(beats.every(({ isCancelled }) => isCancelled))
  end()
  await stopped
  beats[0]?.beat()
  runner.nudge()
  await runner.runAll()
  assert.equal(counts.begun, 1)
})
