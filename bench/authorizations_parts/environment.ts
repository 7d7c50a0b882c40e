import { type ChildProcess, fork, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { makeEngine } from '#domain/authorizations/engine.ts'
import type { Dependencies } from '#domain/context/context.ts'
import { startCardHost } from '#doors/card_host/card_host.ts'
import { default_link } from '#iso8583/links.ts'
import { makeDependencies } from '#main/dependencies.ts'
import { startEmbeddedPostgres } from '#platform/embedded_postgres/embedded_postgres.ts'
import { type Database, openDatabase } from '#platform/postgres/db.ts'
import { migrate } from '#platform/postgres/migrate.ts'
import { silentLog } from '#platform/runtime/log.ts'
import { readSettings } from '#settings/settings.ts'
import { type BareCard, insertBareCard } from '#test/support/issuer.ts'
import type { Job, Report } from './client.ts'

export type BenchEnvironment = {
  dependencies: Dependencies
  url: string
  data_dir: string
  cards: BareCard[]
  /** Runs a checkpoint, so that the next measurement does not pay for the previous one. */
  settle(): Promise<void>
  stop(): Promise<void>
}

const LIMITS = { statement_ms: 10_000, lock_ms: 5_000, idle_in_transaction_ms: 10_000 }

/** Starts a durable database with funded cards. */
export async function startEnvironment(
  card_count: number,
  { treasury_usd = 0 } = {},
): Promise<BenchEnvironment> {
  const data_dir = await mkdtemp(join(tmpdir(), 'florin_bench_'))
  const postgres = await startEmbeddedPostgres({ data_dir })
  const db = openDatabase(postgres.url)
  await migrate(db)
  const settings = readSettings({ FLORIN_DATA_DIR: data_dir, FLORIN_ISO_PORT: '0' })
  const dependencies = await makeDependencies(settings, db, { log: silentLog })
  const cards: BareCard[] = []
  await withoutFlushes(postgres.url, async (quick_db) => {
    for (let at = 0; at < card_count; at += 20) {
      const some = Array.from({ length: 20 }, () =>
        insertBareCard({ db: quick_db, dependencies }, { usd: 10_000, treasury_usd }),
      )
      cards.push(...(await Promise.all(some)))
    }
  })
  await db.run('vacuum analyze')
  await recycleWal(db)
  return {
    dependencies,
    url: postgres.url,
    data_dir,
    cards,
    settle: async () => void (await db.run('checkpoint')),
    stop: async () => {
      await db.close()
      await postgres.stop()
      await rm(data_dir, { recursive: true, force: true })
    },
  }
}

/** Prepares rows without waiting for the disk at each commit; `vacuum` and a checkpoint follow. */
export async function withoutFlushes(
  url: string,
  prepare: (db: Database) => Promise<void>,
): Promise<void> {
  const admin = openDatabase(url, { pool_size: 1 })
  await admin.run('alter database postgres set synchronous_commit = off')
  const db = openDatabase(url, { key_lookups: true })
  try {
    await prepare(db)
  } finally {
    await db.close()
    await admin.run('alter database postgres reset synchronous_commit')
    await admin.close()
  }
}

/** More 16 MB segments than one run fills. */
const WAL_SEGMENTS = 64

/**
 * Creates WAL segments in advance. A database in production recycles old segments, while a new one
 * has to create each of them during the measurement.
 */
async function recycleWal(db: Database): Promise<void> {
  for (let at = 0; at < WAL_SEGMENTS; at += 1) {
    await db.rows(`select pg_logical_emit_message(true, 'bench', '')`)
    await db.rows('select pg_switch_wal()')
  }
  await db.run('checkpoint')
}

/** Starts the engine with its own connections, and the card host in front of it. */
export async function startIssuer({ dependencies, url }: BenchEnvironment, batch_max?: number) {
  const db = openDatabase(url, { pool_size: 3, limits: LIMITS, key_lookups: true })
  const engine = makeEngine({ ...dependencies, db }, batch_max === undefined ? {} : { batch_max })
  const host = await startCardHost(
    { ...dependencies, engine, link: default_link },
    dependencies.settings,
  )
  return {
    engine,
    port: host.port,
    stop: async () => {
      await host.stop()
      await engine.drain()
      await db.close()
    },
  }
}

export type Client = { run(job: Job): Promise<Report>; stop(): void }

export async function startClient(): Promise<Client> {
  const script = new URL('./client.js', import.meta.url)
  const child: ChildProcess = fork(script)
  await once(child, 'message')
  return {
    run: async (job) => {
      child.send(job)
      const [report] = await once(child, 'message')
      return report as Report
    },
    stop: () => child.disconnect(),
  }
}

const SIMPLE_UPDATE = ['-N', '-n', '-c', '16', '-j', '2', '-M', 'prepared']

const runPgbench = (url: string, args: readonly string[]) =>
  spawnSync('pgbench', [...args, url], { encoding: 'utf8' })

const isPgbenchReady = (url: string): boolean =>
  runPgbench(url, ['-i', '-q', '-s', '10']).error === undefined

/** Transactions per second of pgbench's simple-update; null if pgbench is not installed. */
export function pgbench(url: string, seconds: number): number | null {
  if (!isPgbenchReady(url)) return null
  const { stdout } = runPgbench(url, [...SIMPLE_UPDATE, '-T', `${seconds}`])
  const tps = /tps = ([\d.]+)/.exec(stdout)?.[1]
  return tps === undefined ? null : Number(tps)
}

/** Milliseconds of each transaction of simple-update at a rate, from when it was due. */
export async function pgbenchLatencies(
  { url, data_dir }: Pick<BenchEnvironment, 'url' | 'data_dir'>,
  { per_second, seconds }: { per_second: number; seconds: number },
): Promise<number[] | null> {
  if (!isPgbenchReady(url)) return null
  const prefix = join(data_dir, 'pgbench')
  const rate = ['-T', `${seconds}`, '--rate', `${per_second}`, '--log', '--log-prefix', prefix]
  runPgbench(url, [...SIMPLE_UPDATE, ...rate])
  const logs = (await readdir(data_dir)).filter((name) => name.startsWith('pgbench.'))
  const texts = await Promise.all(logs.map((name) => readFile(join(data_dir, name), 'utf8')))
  const lines = texts.flatMap((text) => text.trimEnd().split('\n'))
  return lines.map((line) => Number(line.split(' ')[LOGGED_MICROSECONDS]) / 1_000)
}

/** Lines of its log: client, transaction, microseconds, … */
const LOGGED_MICROSECONDS = 2
