import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { isAbsolute, join, resolve } from 'node:path'
import { root } from '#platform/runtime/root.ts'
import {
  addFailure,
  addNote,
  addResult,
  type FileOutput,
  makePrinter,
  newOutput,
  type Printer,
  type PrinterOptions,
} from './printer.ts'
import { isTooMuch, stolenTicks, waitForQuietHost, watchStolen } from './stolen_time.ts'
import { countResult, noTests, sumOf, type Tally } from './summary.ts'
import type { Assignment, WorkerMessage } from './worker_messages.ts'

/** Tests also wait, so two cores serve more than two workers. */
const WORKERS = 4
const WORKER_END_MS = 5_000
/** A file that reports nothing for this long hangs; the longest single test takes ten minutes. */
const SILENT_MAX_MS = 15 * 60_000
/** A worker that has grown beyond this ends after its file. */
const RESIDENT_BYTES_MAX = 900 * 1_048_576

/** Tests are selected by source path, but the built files run. */
const builtPath = (path: string) =>
  isAbsolute(path) ? path : join(root, 'dist', path.replace(/\.ts$/, '.js'))

/**
 * Files that measure or change their process, or load the whole machine, begin with such a comment.
 * They get a process of their own, and nothing runs beside them.
 */
const runsAlone = (path: string) =>
  /^\s*\/\/ Runs alone/m.test(readFileSync(resolve(root, path), 'utf8'))

export type RunResult = {
  code: number
  tally: Tally
  failures: readonly string[]
  /** Files that only were too late, in every attempt, while the host took CPU time away. */
  not_judged: readonly string[]
}

export type Runner = {
  /** After it, no further file starts. */
  stop: (signal: NodeJS.Signals) => void
  wasStopped: () => boolean
  run: (files: readonly string[], url: string) => Promise<RunResult>
  /** Ends the current run only. */
  cutOff: () => void
}

/** The shell's exit code for a signal: 128 plus its number. */
const EXIT_CODES: Partial<Record<NodeJS.Signals, number>> = { SIGINT: 130, SIGTERM: 143 }

/** Runs test files in worker processes. */
export function testRunner(
  env: NodeJS.ProcessEnv,
  options: PrinterOptions & {
    workers?: number
    silent_max_ms?: number
    stolenTicks?: () => number
    /** Lists files that are only too late, instead of failing them: for CI on a shared machine. */
    forgives_late?: boolean
  },
): Runner {
  const workers = new Set<ChildProcess>()
  let stopped: NodeJS.Signals | undefined
  let is_cut_off = false

  const startWorker = (url: string): ChildProcess => {
    const worker = fork(join(root, 'dist/scripts/test/worker.js'), [], {
      cwd: root,
      execArgv: [
        '--enable-source-maps',
        `--test-reporter=${join(root, 'dist/scripts/test/worker_reporter.js')}`,
        '--test-reporter-destination=stdout',
      ],
      stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
      env: { ...env, FLORIN_TEST_DATABASE_URL: url },
      // A process group of its own, so that it ends with all programs that its tests started.
      detached: true,
    })
    workers.add(worker)
    worker.once('exit', () => {
      workers.delete(worker)
      endGroup(worker)
    })
    return worker
  }

  const run = async (files: readonly string[], url: string): Promise<RunResult> => {
    is_cut_off = false
    const tally = noTests()
    const failures: string[] = []
    const not_judged: string[] = []
    const printer = makePrinter(tally, files.length, options)
    const isOver = () => stopped !== undefined || is_cut_off
    const outcome = { tally, failures, not_judged, printer, isOver }
    const limits = { silent_max_ms: SILENT_MAX_MS, stolenTicks, forgives_late: false, ...options }
    const work = { ...outcome, ...limits, startWorker: () => startWorker(url) }
    const alone = files.filter(runsAlone)
    const shared = files.filter((file) => !alone.includes(file))
    // First, because a budget cuts off the end: these are the tests under load and of failures.
    for (const file of alone) await runInOneProcess(work, [file])
    await Promise.all(
      Array.from({ length: options.workers ?? WORKERS }, () => runInOneProcess(work, shared)),
    )
    printer.end()
    const code = stopped === undefined ? Number(failures.length > 0) : (EXIT_CODES[stopped] ?? 1)
    return { code, tally, failures, not_judged }
  }

  return {
    run,
    stop: (signal) => {
      stopped = signal
      for (const worker of workers) worker.kill(signal)
    },
    cutOff: () => {
      is_cut_off = true
      for (const worker of workers) {
        worker.kill('SIGTERM')
        setTimeout(() => endGroup(worker), WORKER_END_MS).unref()
      }
    },
    wasStopped: () => stopped !== undefined,
  }
}

type Work = {
  tally: Tally
  failures: string[]
  not_judged: string[]
  printer: Printer
  isOver: () => boolean
  silent_max_ms: number
  stolenTicks: () => number
  forgives_late: boolean
  startWorker: () => ChildProcess
}

const ATTEMPTS_MAX = 4

/** Takes files off the list until none is left. A process that died or grew is replaced. */
async function runInOneProcess(work: Work, files: string[]): Promise<void> {
  let worker: ChildProcess | null = null
  for (let file = files.shift(); file !== undefined && !work.isOver(); file = files.shift()) {
    worker = await runRepeatedly(work, worker ?? work.startWorker(), file)
  }
  if (worker !== null) await endWorker(worker)
}

/**
 * Runs a file, and again if it fails while the host takes CPU time away: no service responds within
 * a second if it does not run. Returns the process for the next file, if it can run one.
 */
async function runRepeatedly(
  work: Work,
  worker: ChildProcess,
  file: string,
  attempt = 1,
): Promise<ChildProcess | null> {
  const endWatch = watchStolen(work.stolenTicks)
  const { output, tally, can_continue } = await runFile(work, worker, file)
  const stolen = endWatch()
  const was_slowed = output.failures.length > 0 && isTooMuch(stolen)
  const is_late = output.failures.length > 0 && output.late === output.failures.length
  const can_be_the_host = was_slowed || (is_late && work.forgives_late)
  const repeats = can_be_the_host && attempt < ATTEMPTS_MAX
  // A process loads a file only once.
  if (repeats || !can_continue) await endWorker(worker)
  if (work.isOver()) return null
  if (repeats) {
    work.printer.attemptEnded(output, stolen.worst)
    await waitForQuietHost()
    // Without time for another attempt, the file counts as not run.
    return work.isOver() ? null : runRepeatedly(work, work.startWorker(), file, attempt + 1)
  }
  if (can_be_the_host && is_late) {
    work.not_judged.push(file)
    work.printer.attemptEnded(output, stolen.worst)
    Object.assign(work.tally, sumOf(work.tally, { ...tally, fail: 0 }))
  } else {
    work.failures.push(...output.failures)
    Object.assign(work.tally, sumOf(work.tally, tally))
    work.printer.fileEnded(output, tally.file_ms[file] ?? 0)
  }
  return can_continue ? worker : null
}

/** The CPU time of a worker when its last file ended. */
const used_cpu_ms = new WeakMap<ChildProcess, number>()

/** Runs one file. A worker that ends before the file does, or falls silent, has failed it. */
function runFile(
  { isOver, silent_max_ms }: Work,
  worker: ChildProcess,
  file: string,
): Promise<{ output: FileOutput; tally: Tally; can_continue: boolean }> {
  const output = newOutput(file)
  const tally = noTests()
  const began = performance.now()
  return new Promise((resolve) => {
    let was_silent = false
    const endSilent = () => {
      was_silent = true
      worker.kill('SIGKILL')
    }
    let silence = setTimeout(endSilent, silent_max_ms)
    const finish = (can_continue: boolean) => {
      clearTimeout(silence)
      worker.removeAllListeners('message')
      worker.off('exit', onExit)
      for (const stream of [worker.stdout, worker.stderr]) stream?.removeAllListeners('data')
      tally.file_ms[file] = performance.now() - began
      resolve({ output, tally, can_continue })
    }
    const onExit = (code: number | null, signal: NodeJS.Signals | null) => {
      const reason = was_silent
        ? `it reported nothing for ${silent_max_ms / 60_000} minutes`
        : `the process ended with ${signal ?? code}`
      if (!isOver()) fail(output, tally, reason)
      finish(false)
    }
    worker.on('message', (message: WorkerMessage) => {
      clearTimeout(silence)
      silence = setTimeout(endSilent, silent_max_ms)
      if (message.type === 'diagnostic') addNote(output, message.nesting, message.message)
      // Tests that a budget cuts off did not fail.
      if (message.type === 'test' && !isOver()) {
        countResult(tally, message)
        addResult(output, message)
      }
      if (message.type !== 'file') return
      tally.file_cpu_ms[file] = message.cpu_ms - (used_cpu_ms.get(worker) ?? 0)
      used_cpu_ms.set(worker, message.cpu_ms)
      if (message.error !== null) fail(output, tally, message.error)
      finish(message.resident_bytes < RESIDENT_BYTES_MAX)
    })
    worker.once('exit', onExit)
    for (const stream of [worker.stdout, worker.stderr]) {
      stream?.on('data', (chunk) => addPrinted(output, String(chunk)))
    }
    worker.send({ type: 'run', path: builtPath(file) } satisfies Assignment)
  })
}

function fail(output: FileOutput, tally: Tally, text: string): void {
  tally.fail += 1
  addFailure(output, 'the file', text)
}

const addPrinted = ({ lines }: FileOutput, text: string): void =>
  void lines.push(...text.replace(/\n$/, '').split('\n'))

/**
 * Kills what is left of a worker's process group. A program that a dead worker leaves behind would
 * keep its pipes open, and the runner waits for those.
 */
function endGroup({ pid, stdout, stderr }: ChildProcess): void {
  if (pid === undefined) return
  try {
    process.kill(-pid, 'SIGKILL')
  } catch {
    // Nothing is left.
  }
  // A program with a process group of its own may still have them.
  setTimeout(() => {
    stdout?.destroy()
    stderr?.destroy()
  }, WORKER_END_MS).unref()
}

/** Its results are known, so a worker that something keeps alive is killed. */
async function endWorker(worker: ChildProcess): Promise<void> {
  if (worker.exitCode !== null || worker.signalCode !== null) return
  const ended = once(worker, 'exit')
  if (worker.connected) worker.send({ type: 'end' } satisfies Assignment)
  const timer = setTimeout(() => worker.kill('SIGKILL'), WORKER_END_MS)
  await ended
  clearTimeout(timer)
}
