import { fork } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { type Goal, goals, isWithin, limitOf, type RatioReport } from '#bench/goals_parts/goals.ts'
import { root } from '#platform/runtime/root.ts'
import { isTooMuch, stolenTicks, waitForQuietHost, watchStolen } from './test/stolen_time.ts'

const folder = join(root, 'bench')

/** Each file directly in bench/ is a benchmark; shared code is in subfolders. */
function benchNames(): string[] {
  if (!existsSync(folder)) return []
  return readdirSync(folder)
    .filter((file) => file.endsWith('.ts') && !file.endsWith('.test.ts'))
    .map((file) => file.replace(/\.ts$/, ''))
    .sort()
}

/** Same as `npm start`. With a smaller semi-space, V8 copies the objects of open batches. */
const SEMI_SPACE = '--max-semi-space-size=32'

type Ratios = Map<string, number>

/** Runs a benchmark to its end. */
async function runBench(name: string, env: NodeJS.ProcessEnv = {}) {
  const ratios: Ratios = new Map()
  const child = fork(join(root, `dist/bench/${name}.js`), {
    cwd: root,
    execArgv: [SEMI_SPACE],
    env: { ...process.env, ...env },
  })
  child.on('message', ({ ratio, value }: RatioReport) => ratios.set(ratio, value))
  const [status] = (await once(child, 'exit')) as [number | null]
  return { status, ratios }
}

/** Runs one benchmark at a time, so they do not disturb each other; continues after a failure. */
async function runBenches(names: readonly string[]): Promise<number> {
  const failed: string[] = []
  for (const name of names) {
    console.log(`\n${name}`)
    if ((await runBench(name)).status !== 0) failed.push(name)
  }
  if (failed.length === 0) return 0
  console.error(`\nFailed or below target: ${failed.join(', ')}.`)
  return 1
}

const SHORT_ROUNDS = { BENCH_CHECK: '1', BENCH_ROUNDS: '2', BENCH_SECONDS: '2' }

const RUNS_MAX = 2
const STOLEN_RUNS_MAX = 4
/** After this time, no bench runs again because of the host. */
const REPEATS_END_MS = 8 * 60_000

/** Other load may disturb a run, so a bench outside its limits runs again. */
async function checkBench(name: string): Promise<boolean> {
  const of_bench = goals.filter(({ bench }) => bench === name)
  for (let run = 1; ; run += 1) {
    console.log(`\n${name}, run ${run}`)
    const endWatch = watchStolen(stolenTicks)
    const { ratios } = await runBench(name, SHORT_ROUNDS)
    const isStolen = isTooMuch(endWatch())
    for (const goal of of_bench) console.log(lineOf(goal, ratios.get(goal.ratio)))
    if (of_bench.every((goal) => isWithin(goal, ratios.get(goal.ratio)))) return true
    if (!isStolen && run >= RUNS_MAX) return false
    const is_last = run >= STOLEN_RUNS_MAX || performance.now() > REPEATS_END_MS
    if (isStolen && is_last) return noteNotJudged(name, run)
    if (isStolen) await waitForQuietHost()
  }
}

/** The time of a program that does not run says nothing about it. */
function noteNotJudged(name: string, runs: number): true {
  console.log(`${name} is not judged: the host took CPU time in all its runs (${runs}).`)
  return true
}

function lineOf(goal: Goal, value: number | undefined): string {
  const verdict = isWithin(goal, value) ? '✔' : '✖'
  const side = goal.is_cost ? 'at most' : 'at least'
  const found = value?.toFixed(2) ?? 'not measured'
  return `${verdict} ${goal.ratio}: ${found} (${side} ${limitOf(goal).toFixed(2)})`
}

async function checkBenches(names: readonly string[]): Promise<number> {
  const failed: string[] = []
  for (const name of names) if (!(await checkBench(name))) failed.push(name)
  if (failed.length === 0) return 0
  console.error(`\n✖ Slower than half of the goal or of the last figure: ${failed.join(', ')}.`)
  return 1
}

const known = benchNames()
const args = process.argv.slice(2)
const requested = args.filter((word) => !word.startsWith('--'))
const unknown = requested.filter((name) => !known.includes(name))
const with_goals: string[] = [...new Set(goals.map(({ bench }) => bench))]

if (args.includes('--list')) {
  for (const name of known) console.log(name)
} else if (unknown.length > 0 || known.length === 0) {
  console.error(
    `Unknown benchmark: ${unknown.join(', ') || 'none exist'} (allowed: ${known.join(', ')}).`,
  )
  process.exitCode = 1
} else if (args.includes('--check')) {
  process.exitCode = await checkBenches(
    with_goals.filter((name) => requested.length === 0 || requested.includes(name)),
  )
} else {
  process.exitCode = await runBenches(requested.length > 0 ? requested : known)
}
