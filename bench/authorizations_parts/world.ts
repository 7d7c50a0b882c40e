import { type ChildProcess, fork, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { makeEngine } from '#domain/authorizations/engine.ts'
import { startCardHost } from '#doors/card_host/card_host.ts'
import { default_link } from '#iso8583/links.ts'
import { makeSeams } from '#main/seams.ts'
import { readSettings } from '#platform/config.ts'
import type { Seams } from '#platform/context.ts'
import { type Database, openDatabase } from '#platform/db.ts'
import { startEmbeddedPostgres } from '#platform/embedded_postgres.ts'
import { silentLog } from '#platform/log.ts'
import { migrate } from '#platform/migrate.ts'
import { type BareCard, insertBareCard } from '#test/support/issuer.ts'
import type { Job, Report } from './client.ts'

export type World = {
  seams: Seams
  url: string
  cards: BareCard[]
  /** Writes back what the run before has left, so that the next one does not pay for it. */
  settle(): Promise<void>
  stop(): Promise<void>
}

const LIMITS = { statement_ms: 10_000, lock_ms: 5_000, idle_in_transaction_ms: 10_000 }

/** A durable database with cards that can be charged for a long while. */
export async function startWorld(card_count: number): Promise<World> {
  const data_dir = await mkdtemp(join(tmpdir(), 'florin_bench_'))
  const postgres = await startEmbeddedPostgres({ data_dir })
  const db = openDatabase(postgres.url)
  await migrate(db)
  const settings = readSettings({ FLORIN_DATA_DIR: data_dir, FLORIN_ISO_PORT: '0' })
  const seams = await makeSeams(settings, db, { log: silentLog })
  const cards: BareCard[] = []
  for (let at = 0; at < card_count; at += 20) {
    const some = Array.from({ length: 20 }, () => insertBareCard({ db, seams }, { usd: 10_000 }))
    cards.push(...(await Promise.all(some)))
  }
  await db.run('vacuum analyze')
  await goRoundTheLog(db)
  return {
    seams,
    url: postgres.url,
    cards,
    settle: async () => void (await db.run('checkpoint')),
    stop: async () => {
      await db.close()
      await postgres.stop()
      await rm(data_dir, { recursive: true, force: true })
    },
  }
}

/** More than one run fills: 16 MB each. */
const LOG_SEGMENTS = 64

/**
 * A database in use writes its log into old segments, which costs it nothing; a new one has to make
 * each of them first. Here they are made, and laid by to be used again.
 */
async function goRoundTheLog(db: Database): Promise<void> {
  for (let at = 0; at < LOG_SEGMENTS; at += 1) {
    await db.rows(`select pg_logical_emit_message(true, 'bench', '')`)
    await db.rows('select pg_switch_wal()')
  }
  await db.run('checkpoint')
}

/** The engine on connections of its own, and the host before it. */
export async function startIssuer({ seams, url }: World, batch_max?: number) {
  const db = openDatabase(url, { pool_size: 3, limits: LIMITS, key_lookups: true })
  const engine = makeEngine({ ...seams, db }, batch_max === undefined ? {} : { batch_max })
  const host = await startCardHost({ ...seams, engine, link: default_link }, seams.settings)
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

/** Transactions a second of pgbench's own simple-update; null where there is no pgbench. */
export function pgbench(url: string, seconds: number): number | null {
  const run = (args: string[]) => spawnSync('pgbench', [...args, url], { encoding: 'utf8' })
  if (run(['-i', '-q', '-s', '10']).error !== undefined) return null
  const { stdout } = run(['-N', '-n', '-c', '16', '-j', '2', '-M', 'prepared', '-T', `${seconds}`])
  const tps = /tps = ([\d.]+)/.exec(stdout)?.[1]
  return tps === undefined ? null : Number(tps)
}
