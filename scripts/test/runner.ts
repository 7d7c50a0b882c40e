import { type ChildProcess, spawn } from 'node:child_process'
import { existsSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { root } from '#platform/runtime/root.ts'
import { noTests } from './summary.ts'
import type { Tally } from './tally_reporter.ts'

/** Parallel files, each with its own process and database. CI has two cores. */
const CONCURRENCY = 2

/** Tests are selected by source path, but the built files run. */
const builtName = (path: string) => `dist/${path.replace(/\.ts$/, '.js')}`

/** The shell's exit code for a signal: 128 plus its number (SIGINT 2, SIGTERM 15). */
function exitCodeFor(code: number | null, signal: NodeJS.Signals | null): number {
  if (code !== null) return code
  return signal === 'SIGINT' ? 130 : 143
}

/** A run without a tally has failed. */
export type RunResult = { code: number; tally: Tally }

export type Runner = {
  stop: (signal: NodeJS.Signals) => void
  wasStopped: () => boolean
  run: (files: readonly string[], url: string) => Promise<RunResult>
  /** Ends the current run only. */
  cutOff: () => void
}

const optionsFor = (tally_path: string) => [
  '--enable-source-maps',
  '--test',
  `--test-concurrency=${CONCURRENCY}`,
  ...['--test-reporter=spec', '--test-reporter-destination=stdout'],
  `--test-reporter=${join(root, 'dist/scripts/test/tally_reporter.js')}`,
  `--test-reporter-destination=${tally_path}`,
]

function readTally(path: string): Tally {
  const text = existsSync(path) ? readFileSync(path, 'utf8') : ''
  rmSync(path, { force: true })
  return text === '' ? noTests : (JSON.parse(text) as Tally)
}

/** Runs test files with Node's test runner. After a signal, no further run starts. */
export function testRunner(folder: string, env: NodeJS.ProcessEnv): Runner {
  let child: ChildProcess | undefined
  let stopped: NodeJS.Signals | undefined
  const tally_path = join(folder, 'tally.json')
  return {
    stop: (signal) => {
      stopped = signal
      child?.kill(signal)
    },
    cutOff: () => child?.kill('SIGTERM'),
    wasStopped: () => stopped !== undefined,
    run: (files, url) =>
      new Promise((resolve, reject) => {
        if (stopped !== undefined) {
          return resolve({ code: exitCodeFor(null, stopped), tally: noTests })
        }
        child = spawn(process.execPath, [...optionsFor(tally_path), ...files.map(builtName)], {
          cwd: root,
          stdio: 'inherit',
          env: { ...env, FLORIN_TEST_DATABASE_URL: url },
        })
        child.once('error', reject)
        child.once('exit', (code, signal) =>
          resolve({ code: exitCodeFor(code, signal), tally: readTally(tally_path) }),
        )
      }),
  }
}
