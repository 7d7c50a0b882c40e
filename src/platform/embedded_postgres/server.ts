import { spawn, spawnSync } from 'node:child_process'
import { readFile, rm } from 'node:fs/promises'
import { totalmem } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { setTimeout as sleep } from 'node:timers/promises'
import { type Cluster, serverEnvironment } from './cluster.ts'
import { findProcess } from './process_table.ts'
import { invocationAs } from './server_user.ts'

export type LaunchOptions = {
  cluster: Cluster
  port: number
  /** Shuts the server down, even while it is starting. */
  signal: AbortSignal
  log: (line: string) => void
}
export type RunningServer = { exited: Promise<string> }

/** A fast shutdown writes a checkpoint; after this long, crash recovery is faster. */
const STOP_PATIENCE_MS = 30_000
const ORPHAN_PATIENCE_MS = 10_000
/** sockaddr_un has 108 bytes on Linux, including the terminating zero. */
const SOCKET_PATH_BYTES_MAX = 107
const LINES_KEPT = 20

/** Resolves when the server accepts connections; throws its last log lines if it exits before. */
export async function launchServer(options: LaunchOptions): Promise<RunningServer> {
  const { cluster, signal, log } = options
  await stopOrphan(cluster)
  // Nothing is awaited between here and addEventListener, so no abort is missed.
  signal.throwIfAborted()

  const program = join(cluster.binaries, 'bin', 'postgres')
  const { command, args, ...as_user } = invocationAs(cluster.user, program, serverArgs(options))
  // Its own process group, so Ctrl-C stops us first and the server after we have drained.
  const child = spawn(command, args, {
    ...as_user,
    cwd: '/',
    env: serverEnvironment(),
    detached: true,
    windowsHide: true,
    stdio: ['ignore', 'ignore', 'pipe'],
  })
  const exited = new Promise<string>((resolve) => {
    child.once('error', (error) => resolve(error.message))
    child.once('exit', (code, died_of) => resolve(died_of ?? `code ${code}`))
  })
  const last_lines: string[] = []
  const lines = createInterface({ input: child.stderr })
  const ready = new Promise<true>((resolve) => {
    lines.on('line', (line) => {
      log(line)
      last_lines.push(line)
      if (last_lines.length > LINES_KEPT) last_lines.shift()
      if (line.includes('ready to accept connections')) resolve(true)
    })
  })
  const drained = new Promise((resolve) => lines.once('close', resolve))
  if (child.pid !== undefined) stopOnSignal(cluster, child.pid, { signal, exited })

  const outcome = await Promise.race([ready, exited])
  if (outcome === true) return { exited }
  // Children of a dead postmaster may keep the pipe open, so wait only briefly for its end.
  await Promise.race([drained, sleep(500)])
  throw new Error(`PostgreSQL did not start (${outcome}):\n${last_lines.join('\n')}`)
}

function serverArgs({ cluster, port }: LaunchOptions): string[] {
  const socket_bytes = Buffer.byteLength(`${cluster.dir}/.s.PGSQL.${port}`)
  const has_socket = process.platform !== 'win32' && socket_bytes <= SOCKET_PATH_BYTES_MAX
  const settings = {
    listen_addresses: '127.0.0.1',
    unix_socket_directories: has_socket ? `"${cluster.dir.replaceAll('"', '""')}"` : '',
    // For the pools of several nodes; an idle connection costs little.
    max_connections: '200',
    shared_buffers: `${cluster.durable ? bufferMegabytes() : BUFFER_MB_MIN}MB`,
    timezone: 'UTC',
    log_timezone: 'UTC',
    log_checkpoints: 'off',
    ...(cluster.durable
      ? {}
      : { fsync: 'off', synchronous_commit: 'off', full_page_writes: 'off' }),
  }
  const pairs = Object.entries(settings).flatMap(([name, value]) => ['-c', `${name}=${value}`])
  return ['-D', cluster.dir, '-p', String(port), ...pairs]
}

const MEGABYTE = 1_048_576
const BUFFER_MB_MIN = 128
const BUFFER_MB_MAX = 1_024

/**
 * An eighth of the memory; a container's limit counts. PostgreSQL takes it page by page as it
 * reads, so a small database uses little of it. With 128 MB, lists of a million accounts had 0.7 of
 * the rate of small books (`npm run bench -- large`).
 */
function bufferMegabytes(): number {
  const limit = process.constrainedMemory()
  const memory = limit > 0 ? Math.min(limit, totalmem()) : totalmem()
  const eighth = Math.floor(memory / 8 / MEGABYTE)
  return Math.min(Math.max(eighth, BUFFER_MB_MIN), BUFFER_MB_MAX)
}

function stopOnSignal(
  cluster: Cluster,
  pid: number,
  { signal, exited }: { signal: AbortSignal; exited: Promise<string> },
): void {
  let impatience: NodeJS.Timeout | undefined
  const stop = (): void => {
    send(cluster, 'INT', pid)
    impatience = setTimeout(() => send(cluster, 'QUIT', pid), STOP_PATIENCE_MS)
  }
  signal.addEventListener('abort', stop, { once: true })
  void exited.then(() => {
    signal.removeEventListener('abort', stop)
    clearTimeout(impatience)
  })
}

/** INT is PostgreSQL's fast shutdown; QUIT is immediate and needs recovery at the next start. */
function send(cluster: Cluster, signal: 'INT' | 'QUIT', pid: number): void {
  // Windows has no signals: pg_ctl sends them through a pipe.
  if (process.platform === 'win32') {
    spawnSync(join(cluster.binaries, 'bin', 'pg_ctl'), ['kill', signal, String(pid)])
    return
  }
  try {
    process.kill(pid, `SIG${signal}`)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error
  }
}

/**
 * A killed Node process leaves its server running. We hold the lock now, so a server in this folder
 * has no owner and may be stopped. If another process has reused the pid, it is left alone, but
 * PostgreSQL would refuse to start because of it, so the file is removed.
 */
async function stopOrphan(cluster: Cluster): Promise<void> {
  const pid_file = join(cluster.dir, 'postmaster.pid')
  const text = await readFile(pid_file, 'utf8').catch(() => '')
  const pid = Number.parseInt(text, 10)
  if (!(pid > 0)) return
  if (await isServerOf(cluster, pid)) {
    send(cluster, 'INT', pid)
    if (await hasEnded(cluster, pid)) return
    send(cluster, 'QUIT', pid)
    if (await hasEnded(cluster, pid)) return
    throw new Error(`The PostgreSQL left behind with pid ${pid} does not stop. Stop it manually.`)
  }
  // PostgreSQL handles the pid of a dead process itself.
  if (isTaken(pid)) await rm(pid_file, { force: true })
}

function isTaken(pid: number): boolean {
  try {
    return process.kill(pid, 0)
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM'
  }
}

async function isServerOf(cluster: Cluster, pid: number): Promise<boolean> {
  const found = await findProcess(pid)
  const command_line = `${found?.command_line ?? ''} `
  return command_line.includes('postgres') && command_line.includes(`${cluster.dir} `)
}

async function hasEnded(cluster: Cluster, pid: number): Promise<boolean> {
  const deadline = Date.now() + ORPHAN_PATIENCE_MS
  while (Date.now() < deadline) {
    if (!(await isServerOf(cluster, pid))) return true
    await sleep(20)
  }
  return false
}
