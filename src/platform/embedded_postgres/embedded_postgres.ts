import { randomInt } from 'node:crypto'
import { mkdir, realpath } from 'node:fs/promises'
import { createServer } from 'node:net'
import { join, resolve } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { Client } from 'pg'
import { findPostgresPackage, reachableBinaries } from './binaries.ts'
import { type Cluster, requireCluster } from './cluster.ts'
import { ownerOf, takeProcessLock } from './process_lock.ts'
import { type LaunchOptions, launchServer, type RunningServer } from './server.ts'
import { chooseServerUser } from './server_user.ts'

/**
 * A PostgreSQL server that the service starts itself if FLORIN_DATABASE_URL is unset, for
 * development and the sandbox. A folder has one owner at a time, and killing either process loses
 * no committed row.
 */
export type EmbeddedPostgres = { url: string; stop(): Promise<void> }

export type EmbeddedPostgresOptions = {
  data_dir: string
  port?: number
  /** False is for tests: faster, but a crash may lose rows or the whole cluster. */
  durable?: boolean
  log?: (line: string) => void
}

const DATABASE = 'florin'
const FIRST_PAUSE_MS = 100
const LONGEST_PAUSE_MS = 5_000
/** After running this long, the pauses between restarts begin again from the shortest. */
const STEADY_AFTER_MS = 10_000
const START_ATTEMPTS_MAX = 12
/** Temporary: another program took the port, or children of a dead server are still running. */
const TEMPORARY_FAULTS = /Address already in use|is still in use|lock file "postmaster.pid"/

export async function startEmbeddedPostgres(
  options: EmbeddedPostgresOptions,
): Promise<EmbeddedPostgres> {
  const package_dir = await findPostgresPackage()
  // Root's server runs as another user, who must traverse the folder but needn't list it.
  await mkdir(resolve(options.data_dir), { recursive: true, mode: isRoot() ? 0o711 : 0o700 })
  const data_dir = await realpath(options.data_dir)
  const unlock = await takeProcessLock(lockOf(data_dir), nameOf(data_dir))
  try {
    return await startLocked({ ...options, data_dir }, { package_dir, unlock })
  } catch (error) {
    await unlock()
    throw error
  }
}

const lockOf = (data_dir: string) => join(data_dir, 'postgres.lock')
const nameOf = (data_dir: string) => `The database in ${data_dir}`

/** A sentence that names the process using the folder; null if there is none. */
export function embeddedOwner(data_dir: string): Promise<string | null> {
  return ownerOf(lockOf(data_dir), nameOf(data_dir))
}

function isRoot(): boolean {
  return process.getuid?.() === 0
}

async function startLocked(
  options: EmbeddedPostgresOptions,
  held: { package_dir: string; unlock: () => Promise<void> },
): Promise<EmbeddedPostgres> {
  const { data_dir, durable = true, log = () => {} } = options
  const dir = join(data_dir, 'postgres')
  const user = await chooseServerUser(data_dir, dir)
  const binaries = await reachableBinaries({ package_dir: held.package_dir, data_dir, user })
  const password_file = join(data_dir, 'postgres.password')
  const cluster: Cluster = { dir, password_file, binaries, user, durable }
  const password = await requireCluster(cluster)

  const stopping = new AbortController()
  const given = { cluster, signal: stopping.signal, log }
  const { server, port } = await launchFirst(given, options.port)
  const kept = keepRunning(server, { ...given, port })
  const shutDown = async (): Promise<void> => {
    process.removeListener('exit', onExit)
    stopping.abort()
    await kept
    await held.unlock()
  }
  // Only once: later the lock may belong to another start in this process.
  let stopped: Promise<void> | undefined
  const stop = (): Promise<void> => {
    stopped ??= shutDown()
    return stopped
  }
  // A process that exits without stop() still signals its server; abort is synchronous.
  const onExit = (): void => stopping.abort()
  process.once('exit', onExit)

  const at = `postgres://postgres:${password}@127.0.0.1:${port}`
  try {
    await requireDatabase(`${at}/postgres`)
  } catch (error) {
    await stop()
    throw error
  }
  return { url: `${at}/${DATABASE}`, stop }
}

async function launchFirst(
  given: Omit<LaunchOptions, 'port'>,
  wanted_port: number | undefined,
): Promise<{ server: RunningServer; port: number }> {
  for (let attempt = 1; ; attempt += 1) {
    const port = wanted_port ?? (await freePort())
    try {
      return { server: await launchServer({ ...given, port }), port }
    } catch (error) {
      const isTemporary = error instanceof Error && TEMPORARY_FAULTS.test(error.message)
      if (!isTemporary || attempt === START_ATTEMPTS_MAX) throw error
    }
    await sleep(Math.min(FIRST_PAUSE_MS * attempt, 1_000))
  }
}

/**
 * Restarts a server that died, on the same port because the pool uses it. It never gives up: the
 * service would be left without a database.
 */
async function keepRunning(first: RunningServer, options: LaunchOptions): Promise<void> {
  const { signal, log } = options
  let server: RunningServer | null = first
  let pause_ms = 0
  for (;;) {
    const began_ms = Date.now()
    const ended_by = await server?.exited
    if (signal.aborted) return
    if (ended_by !== undefined) log(`PostgreSQL exited (${ended_by}); restarting it.`)

    const was_steady = Date.now() - began_ms > STEADY_AFTER_MS
    const longer_ms = Math.min(Math.max(pause_ms * 2, FIRST_PAUSE_MS), LONGEST_PAUSE_MS)
    pause_ms = was_steady ? 0 : longer_ms
    await sleep(pause_ms, undefined, { signal }).catch(() => {})
    server = await launchServer(options).catch((error: unknown) => {
      if (!signal.aborted) log(error instanceof Error ? error.message : String(error))
      return null
    })
  }
}

async function requireDatabase(url: string): Promise<void> {
  const client = new Client({ connectionString: url })
  client.on('error', () => {})
  try {
    await client.connect()
    const found = await client.query('select 1 from pg_database where datname = $1', [DATABASE])
    if (found.rowCount === 0) {
      await client.query(
        `create database ${DATABASE} encoding 'UTF8' locale 'C' template template0`,
      )
    }
  } finally {
    await client.end().catch(() => {})
  }
}

/**
 * Systems give higher ports to outgoing connections. One of those could take the port while the
 * server restarts, and the service would stay without a database.
 */
const [PORT_MIN, PORT_END] = [10_000, 32_768]
const PORTS_TRIED_MAX = 100

async function freePort(): Promise<number> {
  for (let tried = 0; tried < PORTS_TRIED_MAX; tried += 1) {
    const port = randomInt(PORT_MIN, PORT_END)
    if (await isFree(port)) return port
  }
  throw new Error(`no free port was found between ${PORT_MIN} and ${PORT_END}`)
}

function isFree(port: number): Promise<boolean> {
  const probe = createServer()
  return new Promise((resolve) => {
    probe.once('error', () => resolve(false))
    probe.listen(port, '127.0.0.1', () => probe.close(() => resolve(true)))
  })
}
