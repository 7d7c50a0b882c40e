import { spawn } from 'node:child_process'
import { join } from 'node:path'

export type TestRun = {
  /** The first test that failed. */
  failed: string | undefined
  /** Until the first failure, or until the end. */
  ms: number
  code: number | null
  output: string
}

export type RunOptions = {
  files: readonly string[]
  env: NodeJS.ProcessEnv
  within_ms: number
  stopped: AbortSignal
}

function killGroup(pid: number | undefined): void {
  try {
    if (pid !== undefined) process.kill(-pid, 'SIGKILL')
  } catch {
    // It has ended already.
  }
}

const builtName = (path: string) => `dist/${path.replace(/\.ts$/, '.js')}`

/**
 * Runs built test files of a tree until the first failure. A run that has failed or takes too long
 * is killed with all its processes.
 */
export function runTests(folder: string, options: RunOptions): Promise<TestRun> {
  const { files, env, within_ms, stopped } = options
  const reporter = join(folder, 'dist/scripts/planted/failure_reporter.js')
  const flags = ['--enable-source-maps', '--test', '--test-concurrency=2']
  const args = [...flags, `--test-reporter=${reporter}`, '--test-reporter-destination=stdout']
  return new Promise((resolve, reject) => {
    const began = performance.now()
    const child = spawn(process.execPath, [...args, ...files.map(builtName)], {
      cwd: folder,
      env,
      detached: true,
      stdio: ['ignore', 'pipe', 'pipe'],
    })
    const kill = () => killGroup(child.pid)
    const timer = setTimeout(kill, within_ms)
    stopped.addEventListener('abort', kill)
    let failed_ms: number | undefined
    const [reported, errors]: [string[], string[]] = [[], []]
    child.stdout.on('data', (chunk: Buffer) => {
      reported.push(String(chunk))
      if (failed_ms !== undefined) return
      failed_ms = performance.now() - began
      // One failure is enough. The server and the temporary folder end with the whole run.
      kill()
    })
    child.stderr.on('data', (chunk: Buffer) => errors.push(String(chunk)))
    child.once('error', reject)
    child.once('close', (code) => {
      clearTimeout(timer)
      stopped.removeEventListener('abort', kill)
      const failed = reported.join('').split('\n').find(Boolean)
      const ms = failed_ms ?? performance.now() - began
      resolve({ failed, ms, code, output: errors.join('') })
    })
  })
}
