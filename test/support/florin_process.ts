import assert from 'node:assert/strict'
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { root } from '#platform/runtime/root.ts'
import { eventually } from './eventually.ts'
import { freePort } from './port.ts'

type ExitStatus = { code: number | null; signal: NodeJS.Signals | null }

export type FlorinProcess = {
  url: string
  pid: number
  /** The output of both streams so far. */
  output(): string
  signal(name: NodeJS.Signals): void
  ended: Promise<ExitStatus>
}

const started = new Set<ChildProcess>()

/** No variable of the tests reaches the service, which runs the same on any number of cores. */
const bareEnvironment = () => ({
  PATH: process.env['PATH'] ?? '',
  HOME: process.env['HOME'] ?? '',
  FLORIN_WORKERS: '1',
})

type RunOptions = { input?: string | undefined; folder?: string | undefined }

/** The built CLI; `cli/florin.js` would first check whether to build. */
export const built_cli = join(root, 'dist/cli/main.js')

/** Runs the CLI of the checkout, or of a folder in which the florin package is installed. */
function run(words: readonly string[], env: Record<string, string>, { input, folder }: RunOptions) {
  const place = folder === undefined ? root : join(folder, 'node_modules/florin')
  const isShort = folder === undefined && words[0] !== 'start'
  const cli = isShort ? built_cli : join(place, 'cli/florin.js')
  const child = spawn(process.execPath, [cli, ...words], {
    cwd: folder ?? root,
    env: { ...bareEnvironment(), ...env },
    stdio: ['pipe', 'pipe', 'pipe'],
  })
  started.add(child)
  child.stdin.end(input)
  const captured = { stdout: '', stderr: '', output: '' }
  for (const stream of ['stdout', 'stderr'] as const) {
    child[stream].on('data', (chunk) => {
      captured[stream] += String(chunk)
      captured.output += String(chunk)
    })
  }
  const ended = once(child, 'close').then(([code, signal]) => {
    started.delete(child)
    return { code, signal } as ExitStatus
  })
  return { child, ended, captured, output: () => captured.output }
}

/** Runs a command until it exits. */
export async function florin(
  words: readonly string[],
  env: Record<string, string>,
  input?: string,
) {
  const { ended, captured } = run(words, env, { input })
  const { code } = await ended
  return { code, ...captured }
}

/** Starts a long-running command; its output can be read while it runs. */
export function spawnFlorin(words: readonly string[], env: Record<string, string>) {
  const { child, ended, captured } = run(words, env, {})
  const kill = (name: NodeJS.Signals) => child.kill(name)
  return { pid: child.pid ?? 0, ended, captured, kill }
}

/** Runs `florin start` on free ports and waits until it is ready. */
export async function startFlorin(
  env: Record<string, string>,
  folder?: string,
): Promise<FlorinProcess> {
  const [port, iso_port] = [await freePort(), await freePort()]
  const ports = { FLORIN_PORT: String(port), FLORIN_ISO_PORT: String(iso_port) }
  const { child, ended, output } = run(['start'], { ...ports, ...env }, { folder })
  const url = `http://127.0.0.1:${port}`
  let hasEnded = false
  void ended.then(() => {
    hasEnded = true
  })
  const serves = async () => {
    if (hasEnded) throw new Error(`florin exited before it was ready:\n${output()}`)
    const ok = await fetch(`${url}/healthz`).then(
      (reply) => reply.ok,
      () => false,
    )
    return ok && output().includes('Try it:')
  }
  if (!(await eventually(serves, { within_ms: 90_000 }))) {
    child.kill('SIGKILL')
    throw new Error(`florin was not ready in time:\n${output()}`)
  }
  return { url, pid: child.pid ?? 0, output, signal: (name) => child.kill(name), ended }
}

/** Stops every process that the tests of this file started. */
export async function stopAllProcesses(): Promise<void> {
  const children = [...started]
  for (const child of children) child.kill('SIGTERM')
  await Promise.all(
    children.map((child) => (child.exitCode === null ? once(child, 'close') : null)),
  )
}

export async function temporaryFolder(): Promise<{ path: string; remove(): Promise<void> }> {
  const path = await mkdtemp(join(tmpdir(), 'florin_story_'))
  return { path, remove: () => rm(path, { recursive: true, force: true }) }
}

/** The books and audit chains of a data directory are sound, as the CLI says. */
export async function assertProven(env: Record<string, string>): Promise<void> {
  const books = await florin(['audit', 'books'], env)
  assert.equal(books.code, 0, books.output)
  assert.match(books.output, /The books are sound\./)
  const chains = await florin(['audit', 'verify'], env)
  assert.equal(chains.code, 0, chains.output)
  assert.match(chains.output, /^\d+ accounts, \d+ entries: unbroken$/m)
}
