import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { appendFile, chmod, cp, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after } from 'node:test'
import pg from 'pg'
import { findPostgresPackage, reachableBinaries } from '#platform/embedded_postgres/binaries.ts'
import {
  type Cluster,
  requireCluster,
  serverEnvironment,
} from '#platform/embedded_postgres/cluster.ts'
import { chooseServerUser, giveTo, invocationAs } from '#platform/embedded_postgres/server_user.ts'
import { eventually } from './eventually.ts'
import { freePort } from './port.ts'

type Server = { port: number; url: string; kill(): Promise<void> }

export type ReplicatedPostgres = {
  primary: Server
  standby: Server
  /** A URL with several hosts, in this order. */
  urlOf(...servers: readonly Server[]): string
  /** Waits until the standby has replayed everything that the primary has written. */
  waitForStandby(): Promise<void>
  /** Makes the standby the primary. */
  promote(): Promise<void>
}

/**
 * A primary and a streaming standby, both real. The standby is a copy of the primary's folder from
 * before its first start, so no pg_basebackup is needed, which the embedded package lacks.
 */
export async function replicatedPostgres(): Promise<ReplicatedPostgres> {
  const folder = await mkdtemp(join(tmpdir(), 'florin_replicated_'))
  await chmod(folder, 0o711)
  const cluster = await clusterIn(folder)
  const password = await requireCluster(cluster)
  const [port, standby_port] = [await freePort(), await freePort()]
  const standby_dir = join(folder, 'standby')
  await copyCluster(cluster, standby_dir, `port=${port} password=${password}`)
  const servers: Server[] = []
  after(async () => {
    for (const each of servers) await each.kill()
    await rm(folder, { recursive: true, force: true, maxRetries: 5 })
  })
  const start = async (dir: string, at: number) => {
    const url = `postgres://postgres:${password}@127.0.0.1:${at}/postgres`
    const server = startServer({ ...cluster, dir }, at)
    servers.push({ port: at, url, kill: () => kill(server) })
    const answers = () =>
      query(url, 'select 1').then(
        () => true,
        () => false,
      )
    if (!(await eventually(answers, { within_ms: 60_000 }))) throw new Error('no server in time')
    return servers.at(-1) as Server
  }
  const primary = await start(cluster.dir, port)
  const standby = await start(standby_dir, standby_port)
  return {
    primary,
    standby,
    urlOf: (...listed) => {
      const hosts = listed.map((one) => `127.0.0.1:${one.port}`).join(',')
      return `postgres://postgres:${password}@${hosts}/postgres`
    },
    waitForStandby: async () => {
      const [row] = await query(primary.url, 'select pg_current_wal_lsn()::text as lsn')
      const isThere = async () => {
        const [found] = await query(
          standby.url,
          `select pg_last_wal_replay_lsn() >= '${row?.['lsn']}'::pg_lsn as is_there`,
        )
        return found?.['is_there'] === true
      }
      if (!(await eventually(isThere, { within_ms: 30_000 }))) throw new Error('no replication')
    },
    promote: async () => {
      await query(standby.url, 'select pg_promote(true, 30)')
    },
  }
}

async function clusterIn(folder: string): Promise<Cluster> {
  const dir = join(folder, 'primary')
  const user = await chooseServerUser(folder, dir)
  const package_dir = await findPostgresPackage()
  const binaries = await reachableBinaries({ package_dir, data_dir: folder, user })
  return { dir, password_file: join(folder, 'password'), binaries, user, durable: false }
}

async function copyCluster({ dir, user }: Cluster, to: string, primary: string): Promise<void> {
  await cp(dir, to, { recursive: true })
  await appendFile(
    join(to, 'postgresql.auto.conf'),
    `primary_conninfo = 'host=127.0.0.1 user=postgres ${primary}'\n`,
  )
  await writeFile(join(to, 'standby.signal'), '')
  const names = await readdir(to, { recursive: true })
  for (const path of [to, ...names.map((name) => join(to, name))]) await giveTo(user, path)
  await chmod(to, 0o700)
}

function startServer(cluster: Cluster, port: number): ChildProcess {
  const settings = [
    'listen_addresses=127.0.0.1',
    'unix_socket_directories=',
    'max_connections=200',
    'wal_keep_size=256MB',
    'fsync=off',
    'full_page_writes=off',
  ]
  const args = ['-D', cluster.dir, '-p', String(port), ...settings.flatMap((one) => ['-c', one])]
  const program = join(cluster.binaries, 'bin', 'postgres')
  const { command, args: words, ...as_user } = invocationAs(cluster.user, program, args)
  return spawn(command, words, {
    ...as_user,
    cwd: '/',
    env: serverEnvironment(),
    stdio: 'ignore',
  })
}

/** SIGKILL of the postmaster: its children exit without closing connections cleanly. */
async function kill(server: ChildProcess): Promise<void> {
  if (server.exitCode !== null || server.signalCode !== null) return
  server.kill('SIGKILL')
  await once(server, 'exit')
}

async function query(url: string, sql: string): Promise<Record<string, unknown>[]> {
  const client = new pg.Client({ connectionString: url, connectionTimeoutMillis: 2_000 })
  client.on('error', () => undefined)
  await client.connect()
  try {
    return (await client.query(sql)).rows
  } finally {
    await client.end()
  }
}
