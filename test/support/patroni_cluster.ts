import { type ChildProcess, execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { openSync } from 'node:fs'
import { chmod, mkdir, readFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { promisify } from 'node:util'
import pg from 'pg'
import {
  chooseServerUser,
  giveTo,
  invocationAs,
  type ServerUser,
} from '#platform/embedded_postgres/server_user.ts'
import { root } from '#platform/runtime/root.ts'
import { type DatabaseProxy, databaseProxy } from './database_proxy.ts'
import { eventually } from './eventually.ts'
import { freePort } from './port.ts'
import { findTool, type Tool } from './tools.ts'

/** On a slow disk, three servers and etcd take minutes to write their first files. */
const START_MS = 240_000
const LINES_SHOWN = 60
/** Patroni's own lines, and PostgreSQL's about the server instead of a statement. */
const MANAGER_LINE = /^\S+ \S+,\d+ | (?:LOG|FATAL|PANIC): /
const PASSWORD = 'password_of_the_tests'

type Network = Record<'postgres' | 'rest' | 'etcd', DatabaseProxy>

export type PatroniServer = {
  name: string
  folder: string
  port: number
  rest_port: number
  /** Everything that reaches the server from outside, and its own way to etcd. */
  network: Network
  process: ChildProcess | null
}

/** Three PostgreSQL servers under Patroni with the files of packaging/ha, and one etcd. */
export class PatroniCluster {
  readonly servers: PatroniServer[] = []
  readonly #folder: string
  readonly #user: ServerUser
  readonly #log: number
  #etcd: ChildProcess | null = null

  private constructor(folder: string, user: ServerUser) {
    this.#folder = folder
    this.#user = user
    this.#log = openSync(join(folder, 'cluster.log'), 'a')
  }

  static async start(folder: string): Promise<PatroniCluster> {
    await chmod(folder, 0o711)
    const user = await chooseServerUser(folder, join(folder, 'none'))
    const cluster = new PatroniCluster(folder, user)
    const etcd_port = await cluster.#startEtcd()
    for (const name of ['db1', 'db2', 'db3']) {
      const server = await cluster.#makeServer(name, etcd_port)
      cluster.servers.push(server)
      await cluster.startServer(server)
    }
    await cluster.waitForStandbys(2)
    return cluster
  }

  /** A URL that lists the three servers. */
  get url(): string {
    const hosts = this.servers.map(({ network }) => `127.0.0.1:${network.postgres.port}`).join(',')
    return `postgres://postgres:${PASSWORD}@${hosts}/postgres`
  }

  async startServer(server: PatroniServer): Promise<void> {
    const env = await this.#serverEnvironment(server)
    server.process = this.#spawn('patroni', [join(root, 'packaging/ha/patroni.yml')], env)
  }

  /** The server that Patroni made the primary; polls until there is one. */
  async waitForPrimary(other_than?: PatroniServer): Promise<PatroniServer> {
    let found: PatroniServer | undefined
    const isFound = async () => {
      const asked = this.servers.filter((server) => server !== other_than)
      const roles = await Promise.all(asked.map((server) => isPrimary(server)))
      found = asked[roles.indexOf(true)]
      return found !== undefined
    }
    if (!(await eventually(isFound, { within_ms: START_MS })) || found === undefined)
      throw new Error(`Patroni promoted no server:\n${await this.#lastLines()}`)
    return found
  }

  /** Waits until so many standbys stream and Patroni may promote one of them. */
  async waitForStandbys(count: number): Promise<void> {
    const isReady = async () => {
      const primary = await this.waitForPrimary()
      const streaming = `select 1 from pg_stat_replication where state = 'streaming'`
      const rows = await this.queryOn(primary, streaming).catch(() => [])
      return rows.length >= count && (await this.synchronousStandby(primary)) !== undefined
    }
    if (!(await eventually(isReady, { within_ms: START_MS })))
      throw new Error(`no ${count} standbys:\n${await this.#lastLines()}`)
  }

  /** Waits until commits of the primary have a standby to wait for. */
  async waitForReplication(primary: PatroniServer): Promise<void> {
    const synchronous = `select 1 from pg_stat_replication where sync_state = 'sync'`
    const isReplicated = async () =>
      (await this.queryOn(primary, synchronous).catch(() => [])).length > 0
    if (!(await eventually(isReplicated, { within_ms: START_MS })))
      throw new Error('no standby follows the new primary')
  }

  /**
   * The standby that Patroni has recorded as synchronous. Just after a failover commits already
   * wait for any standby, but without this record Patroni promotes none.
   */
  async synchronousStandby({ rest_port }: PatroniServer): Promise<PatroniServer | undefined> {
    const reply = await fetch(`http://127.0.0.1:${rest_port}/cluster`).catch(() => null)
    const body = (await reply?.json()) as { members: { name: string; role: string }[] } | undefined
    const found = body?.members.find(({ role }) => role === 'sync_standby')
    return this.servers.find(({ name }) => name === found?.name)
  }

  /** Runs a statement on one server, past its network. */
  async queryOn({ port }: PatroniServer, sql: string): Promise<Record<string, unknown>[]> {
    const client = new pg.Client({
      connectionString: `postgres://postgres:${PASSWORD}@127.0.0.1:${port}/postgres`,
      connectionTimeoutMillis: 3_000,
      query_timeout: 5_000,
    })
    client.on('error', () => undefined)
    await client.connect()
    try {
      return (await client.query(sql)).rows
    } finally {
      await client.end()
    }
  }

  /** kill -9 of PostgreSQL and of Patroni, as if the machine were gone. */
  async killServer(server: PatroniServer): Promise<void> {
    await this.#killProcess(server.process)
    const pid_file = join(server.folder, 'data', 'postmaster.pid')
    const [pid] = (await readFile(pid_file, 'utf8').catch(() => '')).split('\n')
    if (Number(pid) > 0) killIfRunning(Number(pid))
  }

  /** Nothing reaches the server or leaves it, and no connection is closed. */
  silence({ network }: PatroniServer): void {
    for (const proxy of Object.values(network)) proxy.stall()
  }

  async endSilence({ network }: PatroniServer): Promise<void> {
    // Connections from before the silence lost bytes, so they are closed.
    for (const proxy of Object.values(network)) {
      await proxy.cut()
      await proxy.heal()
    }
  }

  /** Stops the process that receives the WAL, or lets it go on; its connection stays open. */
  async signalReceiver(pid: number, signal: 'SIGSTOP' | 'SIGCONT'): Promise<void> {
    process.kill(pid, signal)
  }

  async receiverOf(standby: PatroniServer): Promise<number> {
    const [row] = await this.queryOn(standby, 'select pid from pg_stat_wal_receiver')
    return Number(row?.['pid'])
  }

  /** A planned change of the primary. */
  async switchover(leader: PatroniServer, candidate: PatroniServer): Promise<void> {
    const login = Buffer.from(`patroni:${PASSWORD}`).toString('base64')
    const reply = await fetch(`http://127.0.0.1:${leader.rest_port}/switchover`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', authorization: `Basic ${login}` },
      body: JSON.stringify({ leader: leader.name, candidate: candidate.name }),
    })
    if (!reply.ok) throw new Error(`switchover: ${reply.status} ${await reply.text()}`)
  }

  /** Runs patronictl with the file of the server's settings, as an operator does. */
  async patronictl(server: PatroniServer, ...words: string[]): Promise<string> {
    const { command, args, ...as_user } = invocationAs(
      this.#user,
      findTool('patronictl') ?? '',
      words,
    )
    const env = {
      PATH: process.env['PATH'] ?? '',
      LANG: 'C.UTF-8',
      ...(await this.#serverEnvironment(server)),
      PATRONICTL_CONFIG_FILE: join(root, 'packaging/ha/patroni.yml'),
    }
    return (await promisify(execFile)(command, args, { ...as_user, cwd: '/', env })).stdout
  }

  async stop(): Promise<void> {
    for (const server of this.servers) {
      await this.killServer(server)
      for (const proxy of Object.values(server.network)) await proxy.close()
    }
    await this.#killProcess(this.#etcd)
    // Backends of a killed postmaster end by themselves; until then they write to the folder.
    await delay(500)
  }

  /**
   * The end of the servers' log, for CI keeps only what is printed. Under load PostgreSQL also logs
   * many statements that conflicted and were repeated; they are left out.
   */
  async #lastLines(): Promise<string> {
    const text = await readFile(join(this.#folder, 'cluster.log'), 'utf8')
    const lines = text.split('\n').filter((line) => MANAGER_LINE.test(line))
    const ended = this.servers.filter(({ process }) => process?.exitCode !== null)
    const states = ended.map(({ name }) => `Patroni of ${name} has ended`)
    return [...lines.slice(-LINES_SHOWN), ...states].join('\n')
  }

  async #startEtcd(): Promise<number> {
    const [port, peer_port] = [await freePort(), await freePort()]
    const dir = await this.#makeFolder('etcd')
    const file = await readEnvironment('etcd.env')
    const peer = `http://127.0.0.1:${peer_port}`
    const client = `http://127.0.0.1:${port}`
    this.#etcd = this.#spawn('etcd', [], {
      ...file,
      ETCD_DATA_DIR: join(dir, 'data'),
      ETCD_LISTEN_PEER_URLS: peer,
      ETCD_LISTEN_CLIENT_URLS: client,
      ETCD_INITIAL_ADVERTISE_PEER_URLS: peer,
      ETCD_ADVERTISE_CLIENT_URLS: client,
      ETCD_INITIAL_CLUSTER: `${file['ETCD_NAME']}=${peer}`,
      ETCD_UNSUPPORTED_ARCH: process.arch,
    })
    const isHealthy = () =>
      fetch(`${client}/health`).then(
        ({ ok }) => ok,
        () => false,
      )
    if (!(await eventually(isHealthy, { within_ms: START_MS }))) throw new Error('no etcd')
    return port
  }

  async #makeServer(name: string, etcd_port: number): Promise<PatroniServer> {
    const [port, rest_port] = [await freePort(), await freePort()]
    const proxyTo = (target: number) => databaseProxy(`http://127.0.0.1:${target}`)
    const network = {
      postgres: await proxyTo(port),
      rest: await proxyTo(rest_port),
      etcd: await proxyTo(etcd_port),
    }
    const folder = await this.#makeFolder(name)
    return { name, folder, port, rest_port, network, process: null }
  }

  async #serverEnvironment(server: PatroniServer): Promise<Record<string, string>> {
    const { name, folder, port, rest_port, network } = server
    const file = await readEnvironment('server.env')
    const passwords = Object.keys(file).filter((key) => key.endsWith('_PASSWORD'))
    return {
      ...file,
      ...Object.fromEntries(passwords.map((key) => [key, PASSWORD])),
      PATRONI_NAME: name,
      PATRONI_POSTGRESQL_LISTEN: `127.0.0.1:${port}`,
      PATRONI_POSTGRESQL_CONNECT_ADDRESS: `127.0.0.1:${network.postgres.port}`,
      PATRONI_POSTGRESQL_DATA_DIR: join(folder, 'data'),
      PATRONI_POSTGRESQL_BIN_DIR: dirname(findTool('postgres') ?? ''),
      PATRONI_POSTGRESQL_PGPASS: join(folder, 'pgpass'),
      PATRONI_RESTAPI_LISTEN: `127.0.0.1:${rest_port}`,
      PATRONI_RESTAPI_CONNECT_ADDRESS: `127.0.0.1:${network.rest.port}`,
      PATRONI_ETCD3_HOSTS: `127.0.0.1:${network.etcd.port}`,
      // Otherwise Patroni asks etcd for its address and goes past the proxy.
      PATRONI_ETCD3_USE_PROXIES: 'true',
    }
  }

  async #makeFolder(name: string): Promise<string> {
    const folder = join(this.#folder, name)
    await mkdir(folder, { mode: 0o700 })
    await giveTo(this.#user, folder)
    return folder
  }

  #spawn(tool: Tool, args: string[], env: Record<string, string>): ChildProcess {
    const {
      command,
      args: words,
      ...as_user
    } = invocationAs(this.#user, findTool(tool) ?? tool, args)
    return spawn(command, words, {
      ...as_user,
      cwd: '/',
      env: { PATH: process.env['PATH'] ?? '', HOME: this.#folder, ...env },
      stdio: ['ignore', this.#log, this.#log],
    })
  }

  async #killProcess(child: ChildProcess | null): Promise<void> {
    if (child === null || child.exitCode !== null || child.signalCode !== null) return
    const ended = once(child, 'exit')
    child.kill('SIGKILL')
    await ended
  }
}

function killIfRunning(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL')
  } catch {
    // It has already ended.
  }
}

const isPrimary = ({ rest_port }: PatroniServer): Promise<boolean> =>
  fetch(`http://127.0.0.1:${rest_port}/primary`, { signal: AbortSignal.timeout(1_000) }).then(
    ({ ok }) => ok,
    () => false,
  )

/** The variables of a file in packaging/ha. */
async function readEnvironment(name: string): Promise<Record<string, string>> {
  const text = await readFile(join(root, 'packaging/ha', name), 'utf8')
  return Object.fromEntries(
    [...text.matchAll(/^(\w+)=(.*)$/gm)].map(([, key, value]) => [key, value]),
  )
}
