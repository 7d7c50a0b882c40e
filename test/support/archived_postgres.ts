import { type ChildProcess, execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { openSync } from 'node:fs'
import { chmod, mkdir, readFile, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { promisify } from 'node:util'
import { requireCluster, serverEnvironment } from '#platform/embedded_postgres/cluster.ts'
import {
  chooseServerUser,
  giveTo,
  invocationAs,
  type ServerUser,
} from '#platform/embedded_postgres/server_user.ts'
import { root } from '#platform/runtime/root.ts'
import { eventually } from './eventually.ts'
import { queryOn } from './logical_postgres.ts'
import { freePort } from './port.ts'
import { findTool } from './tools.ts'

const START_MS = 60_000
const packaged = (name: string) => readFile(join(root, 'packaging/backup', name), 'utf8')

/** The cell names the stanza; several servers may share a repository. */
type ArchiveOptions = { cell?: number; repository?: string }

/** A PostgreSQL server whose WAL pgBackRest archives, with the files of packaging/backup. */
export class ArchivedPostgres {
  readonly url: string
  readonly #folder: string
  readonly #user: ServerUser
  readonly #password: string
  readonly #port: number
  readonly #stanza: string
  readonly #repository: string
  #server: ChildProcess | null = null

  private constructor(
    folder: string,
    { user, password, port }: { user: ServerUser; password: string; port: number },
    { cell = 0, repository = join(folder, 'repository') }: ArchiveOptions,
  ) {
    this.#folder = folder
    this.#stanza = `florin_cell_${cell}`
    this.#repository = repository
    this.#user = user
    this.#password = password
    this.#port = port
    this.url = `postgres://postgres:${password}@127.0.0.1:${port}/postgres`
  }

  static async start(folder: string, options: ArchiveOptions = {}): Promise<ArchivedPostgres> {
    await chmod(folder, 0o711)
    const dir = join(folder, 'postgres')
    const user = await chooseServerUser(folder, dir)
    const binaries = dirname(dirname(findTool('postgres') ?? ''))
    const password_file = join(folder, 'password')
    const password = await requireCluster({ dir, password_file, binaries, user, durable: false })
    const login = { user, password, port: await freePort() }
    const server = new ArchivedPostgres(folder, login, options)
    await server.#configure()
    await server.run()
    await server.backrest('stanza-create')
    await server.backrest('check')
    return server
  }

  /** Starts the server and waits until it accepts writes. */
  async run(): Promise<void> {
    const log = openSync(join(this.#folder, 'postgres.log'), 'a')
    const settings = [`port=${this.#port}`, `unix_socket_directories=${this.#folder}/socket`]
    const { command, args, ...as_user } = invocationAs(this.#user, findTool('postgres') ?? '', [
      '-D',
      join(this.#folder, 'postgres'),
      ...settings.flatMap((one) => ['-c', one]),
    ])
    const stdio: ('ignore' | number)[] = ['ignore', log, log]
    this.#server = spawn(command, args, { ...as_user, cwd: '/', env: this.#environment(), stdio })
    const isPrimary = () =>
      this.query('select pg_is_in_recovery() as is_standby').then(
        ([row]) => row?.['is_standby'] === false,
        () => false,
      )
    if (!(await eventually(isPrimary, { within_ms: START_MS })))
      throw new Error(`PostgreSQL in ${this.#folder} did not start`)
  }

  query(sql: string): Promise<Record<string, unknown>[]> {
    return queryOn(this.url, sql)
  }

  /** Runs pgBackRest as the server's user. */
  async backrest(...words: string[]): Promise<string> {
    const program = findTool('pgbackrest') ?? ''
    const { command, args, ...as_user } = invocationAs(this.#user, program, [
      `--stanza=${this.#stanza}`,
      ...words,
    ])
    const options = { ...as_user, cwd: '/', env: this.#environment() }
    return (await promisify(execFile)(command, args, options)).stdout
  }

  /** Waits until everything written so far is in the archive. */
  async archiveAll(): Promise<void> {
    const [row] = await this.query('select pg_walfile_name(pg_switch_wal()) as name')
    const name = String(row?.['name'])
    const isArchived = async () => {
      const [last] = await this.query('select last_archived_wal as name from pg_stat_archiver')
      return String(last?.['name'] ?? '') >= name
    }
    if (!(await eventually(isArchived, { within_ms: START_MS }))) throw new Error('not archived')
  }

  async kill(): Promise<void> {
    const server = this.#server
    if (server === null || server.exitCode !== null || server.signalCode !== null) return
    const ended = once(server, 'exit')
    server.kill('SIGQUIT')
    await ended
  }

  async #configure(): Promise<void> {
    const own = ['socket', 'log', 'lock'].map((name) => join(this.#folder, name))
    for (const path of [...own, this.#repository]) {
      await mkdir(path, { mode: 0o700, recursive: true })
      await giveTo(this.#user, path)
    }
    const dir = join(this.#folder, 'postgres')
    const file = join(dir, 'postgresql.conf')
    const made = await readFile(file, 'utf8')
    const archiving = (await packaged('postgresql.conf')).replace('florin_cell_0', this.#stanza)
    await writeFile(file, `${made}\n${archiving}\nmax_connections = 200\n`)
    const replaced = (await packaged('pgbackrest.conf'))
      .replace('[florin_cell_0]', `[${this.#stanza}]`)
      .replace('/var/lib/pgbackrest', this.#repository)
      .replace('/var/log/pgbackrest', join(this.#folder, 'log'))
      .replace('/var/lib/postgresql/15/florin', dir)
      .replace('pg1-port=5432', `pg1-port=${this.#port}`)
    await writeFile(join(this.#folder, 'pgbackrest.conf'), replaced, { mode: 0o644 })
  }

  /** pgBackRest finds its file by the environment, so the archive command is the packaged one. */
  #environment(): NodeJS.ProcessEnv {
    const path = dirname(findTool('pgbackrest') ?? '')
    return {
      ...serverEnvironment(),
      PATH: `${process.env['PATH']}:${path}`,
      PGPASSWORD: this.#password,
      PGBACKREST_CONFIG: join(this.#folder, 'pgbackrest.conf'),
      PGBACKREST_LOCK_PATH: join(this.#folder, 'lock'),
      PGBACKREST_PG1_SOCKET_PATH: join(this.#folder, 'socket'),
    }
  }
}
