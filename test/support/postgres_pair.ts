import { type ChildProcess, execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { openSync } from 'node:fs'
import { appendFile, chmod, readdir, rm, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
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

type Row = Record<string, unknown>

const QUERY_ATTEMPTS = 120
const QUERY_MS_MAX = 60_000

/** Classes 08, 53 (a full disk) and 57 of SQLSTATE, and sockets that end. */
function isConnectionFault(cause: unknown): boolean {
  const { code = '', message = '' } = cause as { code?: string; message?: string }
  return /^(08|53|57|ECONN|EPIPE)/.test(code) || /terminated|timeout/i.test(message)
}
export type PostgresServer = { dir: string; port: number; process: ChildProcess | null }

/**
 * A primary and a synchronous streaming standby, both real. After a promotion the old primary
 * becomes the new standby, copied from the new primary with PostgreSQL's backup functions.
 */
export class PostgresPair {
  readonly servers: readonly [PostgresServer, PostgresServer]
  readonly #cluster: Cluster
  readonly #password: string
  readonly #log: number
  #primary: 0 | 1 = 0
  #is_replicated = false
  #receiver = 0
  readonly #restored: PostgresServer[] = []

  private constructor(
    cluster: Cluster,
    settings: { password: string; ports: number[]; log: number },
  ) {
    const [first = 0, second = 0] = settings.ports
    this.#cluster = cluster
    this.#password = settings.password
    this.#log = settings.log
    this.servers = [
      { dir: cluster.dir, port: first, process: null },
      { dir: `${cluster.dir}_second`, port: second, process: null },
    ]
  }

  /** By default the servers are those of the embedded package, with their files in the folder. */
  static async start(
    folder: string,
    { binaries: own_binaries, disk = folder }: { binaries?: string; disk?: string } = {},
  ): Promise<PostgresPair> {
    await chmod(folder, 0o711)
    const dir = join(disk, 'postgres')
    const user = await chooseServerUser(folder, dir)
    const package_dir = await findPostgresPackage()
    const binaries =
      own_binaries ?? (await reachableBinaries({ package_dir, data_dir: folder, user }))
    const password_file = join(folder, 'postgres_password')
    const cluster = { dir, password_file, binaries, user, durable: false }
    const password = await requireCluster(cluster)
    const ports = [await freePort(), await freePort()]
    const log = openSync(join(folder, 'postgres.log'), 'a')
    const pair = new PostgresPair(cluster, { password, ports, log })
    await pair.#run(pair.servers[0])
    await pair.rebuildStandby()
    return pair
  }

  get primary(): PostgresServer {
    return this.servers[this.#primary]
  }

  get standby(): PostgresServer {
    return this.servers[this.#primary === 0 ? 1 : 0]
  }

  /** True while the standby has everything that the primary has acknowledged. */
  get isReplicated(): boolean {
    return this.#is_replicated
  }

  /** A URL with these ports in their order. */
  urlOf(...ports: readonly number[]): string {
    const hosts = ports.map((port) => `127.0.0.1:${port}`).join(',')
    return `postgres://postgres:${this.#password}@${hosts}/postgres`
  }

  get url(): string {
    return this.urlOf(this.primary.port)
  }

  /** Asks the primary; waits for it while it recovers. */
  async query(sql: string, values: unknown[] = []): Promise<Row[]> {
    for (let left = QUERY_ATTEMPTS; ; left -= 1) {
      try {
        return await this.queryOn(this.primary, sql, values)
      } catch (cause) {
        if (left === 0 || !isConnectionFault(cause)) throw cause
        await new Promise((resolve) => setTimeout(resolve, 250))
      }
    }
  }

  /** Runs a statement on either server. */
  async queryOn({ port }: PostgresServer, sql: string, values: unknown[] = []): Promise<Row[]> {
    const client = new pg.Client({
      connectionString: this.urlOf(port),
      connectionTimeoutMillis: 3_000,
      query_timeout: QUERY_MS_MAX,
    })
    client.on('error', () => undefined)
    await client.connect()
    try {
      return (await client.query(sql, values)).rows
    } finally {
      // The server may be dying, and then nobody takes part in an orderly end.
      client.end().catch(() => undefined)
    }
  }

  /** Ends the postmaster; after SIGKILL its children exit without closing connections cleanly. */
  async kill(server: PostgresServer, signal: 'SIGKILL' | 'SIGQUIT' = 'SIGKILL'): Promise<void> {
    const { process: postmaster } = server
    if (postmaster === null || postmaster.exitCode !== null || postmaster.signalCode !== null)
      return
    const ended = once(postmaster, 'exit')
    postmaster.kill(signal)
    await ended
  }

  async restart(server: PostgresServer): Promise<void> {
    await this.#run(server)
  }

  /** Starts the servers that have ended by themselves. */
  async restartDead(): Promise<void> {
    for (const server of this.servers) {
      const { process: postmaster } = server
      await new Promise((resolve) => setTimeout(resolve, 500))
      if (postmaster?.exitCode !== null || postmaster.signalCode !== null) await this.#run(server)
    }
  }

  /** Kills a random-looking backend of the service, as the kernel's out-of-memory killer would. */
  async killBackend(choice: number): Promise<void> {
    const rows = await this.query(
      `select pid from pg_stat_activity
        where backend_type = 'client backend' and pid <> pg_backend_pid() order by pid`,
    )
    const { pid } = rows[choice % Math.max(1, rows.length)] ?? {}
    if (typeof pid === 'number') process.kill(pid, 'SIGKILL')
  }

  /** Ends a connection politely, as an administrator would. */
  async terminateBackend(choice: number): Promise<void> {
    await this.query(
      `select pg_terminate_backend(pid) from (
         select pid from pg_stat_activity
          where backend_type = 'client backend' and pid <> pg_backend_pid()
          order by pid offset $1 limit 1) one`,
      [choice],
    )
  }

  /** Starts a server on a folder that was restored from a backup. */
  async startRestored(dir: string): Promise<PostgresServer> {
    for (const path of [
      dir,
      ...(await readdir(dir, { recursive: true })).map((n) => join(dir, n)),
    ]) {
      await giveTo(this.#cluster.user, path)
    }
    await chmod(dir, 0o700)
    const server: PostgresServer = { dir, port: await freePort(), process: null }
    this.#restored.push(server)
    await this.#run(server)
    return server
  }

  /** Stops the standby's receiver without closing its connection, or lets it go on. */
  async signalReceiver(signal: 'SIGSTOP' | 'SIGCONT'): Promise<void> {
    if (signal === 'SIGSTOP') {
      const [row] = await this.queryOn(this.standby, 'select pid from pg_stat_wal_receiver')
      this.#receiver = Number(row?.['pid'])
    }
    process.kill(this.#receiver, signal)
  }

  /** The standby becomes the primary; the old primary stays as it is. */
  async promote(): Promise<void> {
    const { standby } = this
    await this.queryOn(standby, 'select pg_promote(true, 30)')
    this.#is_replicated = false
    this.#primary = this.#primary === 0 ? 1 : 0
    await this.#setSynchronous('')
  }

  /** Copies the running primary to the other server and waits until commits wait for it. */
  async rebuildStandby(): Promise<void> {
    const { primary, standby } = this
    await this.kill(standby)
    await rm(standby.dir, { recursive: true, force: true, maxRetries: 5 })
    await this.#copy(primary, standby)
    await this.#run(standby)
    const isStreaming = async () => {
      const rows = await this.query(`select 1 from pg_stat_replication where state = 'streaming'`)
      return rows.length > 0
    }
    if (!(await eventually(isStreaming, { within_ms: 60_000 }))) throw new Error('no replication')
    await this.#setSynchronous('*')
    this.#is_replicated = true
  }

  async #setSynchronous(names: string): Promise<void> {
    await this.query(`alter system set synchronous_standby_names = '${names}'`)
    await this.query('select pg_reload_conf()')
  }

  async #copy(primary: PostgresServer, standby: PostgresServer): Promise<void> {
    const client = new pg.Client({ connectionString: this.urlOf(primary.port) })
    client.on('error', () => undefined)
    await client.connect()
    try {
      await client.query(`select pg_backup_start('test', true)`)
      // Files that vanish during the copy make cp fail; the backup's log restores them.
      await promisify(execFile)('cp', ['-a', primary.dir, standby.dir]).catch(() => undefined)
      const { rows } = await client.query('select labelfile from pg_backup_stop(false)')
      await this.#makeStandby(standby.dir, primary.port, String(rows[0]?.['labelfile']))
    } finally {
      await client.end()
    }
  }

  async #makeStandby(dir: string, primary_port: number, label: string): Promise<void> {
    await rm(join(dir, 'postmaster.pid'), { force: true })
    for (const name of await readdir(join(dir, 'pg_wal'))) {
      const path = join(dir, 'pg_wal', name)
      if ((await stat(path)).isFile()) await rm(path)
    }
    await writeFile(join(dir, 'backup_label'), label)
    await writeFile(join(dir, 'standby.signal'), '')
    const conninfo = `host=127.0.0.1 user=postgres port=${primary_port} password=${this.#password}`
    await appendFile(join(dir, 'postgresql.auto.conf'), `primary_conninfo = '${conninfo}'\n`)
    for (const name of ['backup_label', 'standby.signal']) {
      await giveTo(this.#cluster.user, join(dir, name))
    }
  }

  /** Starts the server; repeats it while children of a killed postmaster still hold its memory. */
  async #run(server: PostgresServer): Promise<void> {
    const answers = () =>
      this.queryOn(server, 'select 1').then(
        () => true,
        () => false,
      )
    for (let attempt = 0; attempt < 60; attempt += 1) {
      const postmaster = this.#spawn(server)
      server.process = postmaster
      const isOver = async () => postmaster.exitCode !== null || (await answers())
      await eventually(isOver, { within_ms: 60_000 })
      if (postmaster.exitCode === null) return
      await new Promise((resolve) => setTimeout(resolve, 200))
    }
    throw new Error(`PostgreSQL in ${server.dir} did not start`)
  }

  #spawn({ dir, port }: PostgresServer): ChildProcess {
    const settings = [
      'listen_addresses=127.0.0.1',
      'unix_socket_directories=',
      'max_connections=200',
      'wal_keep_size=512MB',
      'max_wal_size=512MB',
      'fsync=off',
      'full_page_writes=off',
      'wal_receiver_status_interval=1s',
      'wal_retrieve_retry_interval=200ms',
    ]
    const args = ['-D', dir, '-p', String(port), ...settings.flatMap((one) => ['-c', one])]
    const program = join(this.#cluster.binaries, 'bin', 'postgres')
    const { command, args: words, ...as_user } = invocationAs(this.#cluster.user, program, args)
    return spawn(command, words, {
      ...as_user,
      cwd: '/',
      env: serverEnvironment(),
      stdio: ['ignore', this.#log, this.#log],
    })
  }

  async stop(): Promise<void> {
    for (const server of [...this.servers, ...this.#restored]) await this.kill(server)
  }
}
