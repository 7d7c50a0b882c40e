import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import pg from 'pg'
import { makeEngine } from '#domain/authorizations/engine.ts'
import type { Dependencies } from '#domain/context/context.ts'
import { makeDependencies } from '#main/dependencies.ts'
import { type Database, openDatabase } from '#platform/postgres/db.ts'
import { migrate } from '#platform/postgres/migrate.ts'
import { canCopy, SERVICE_ROLE } from '#platform/postgres/roles.ts'
import { withSchema } from '#platform/postgres/schema.ts'
import { silentLog } from '#platform/runtime/log.ts'
import { readSettings } from '#settings/settings.ts'
import { type BareCard, insertBareCard } from '#test/support/issuer.ts'
import { requestMaker } from './authorizations_parts/requests.ts'

/**
 * Authorizations per second of the engine in this process, on a worker of Citus and on a plain
 * server (BENCH_PLAIN_URL) with the same settings, in turn: only their ratio means something.
 */
const SECONDS = Number(process.env['BENCH_SECONDS'] ?? 5)
const ROUNDS = Number(process.env['BENCH_ROUNDS'] ?? 4)
const CARDS = 500
const IN_FLIGHT = 1_024
const SCHEMA = 'florin_bench'

type Server = { name: string; url: string; dependencies: Dependencies; cards: BareCard[] }

async function inClient<Row extends object>(url: string, ...statements: string[]): Promise<Row[]> {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  try {
    let rows: Row[] = []
    for (const statement of statements) rows = (await client.query<Row>(statement)).rows
    return rows
  } finally {
    await client.end()
  }
}

async function withDatabase<Value>(url: string, work: (db: Database) => Promise<Value>) {
  const db = openDatabase(url)
  try {
    return await work(db)
  } finally {
    await db.close()
  }
}

const DROP = `drop schema if exists ${SCHEMA} cascade`

async function preparePlain(server: string): Promise<string> {
  await inClient(server, DROP)
  await withDatabase(withSchema(server, SCHEMA), migrate)
  return withSchema(server, SCHEMA)
}

/** Returns the address of the worker that got the schema. */
async function prepareCitus(coordinator: string): Promise<string> {
  const distributed = 'set citus.enable_schema_based_sharding = on'
  await inClient(coordinator, DROP, distributed, `create schema ${SCHEMA}`)
  await withDatabase(withSchema(coordinator, SCHEMA), migrate)
  const [home] = await inClient<{ host: string; port: number }>(
    coordinator,
    `select nodename as host, nodeport as port from citus_shards
      where table_name = '${SCHEMA}.accounts'::regclass`,
  )
  const worker = new URL(coordinator)
  worker.host = `${home?.host}:${home?.port}`
  return withSchema(worker.toString(), SCHEMA)
}

async function fillServer(name: string, url: string, data_dir: string): Promise<Server> {
  const settings = readSettings({ FLORIN_DATA_DIR: data_dir, FLORIN_ISO_PORT: '0' })
  const db = openDatabase(url)
  const dependencies = await makeDependencies(settings, db, { log: silentLog })
  const cards: BareCard[] = []
  for (let at = 0; at < CARDS; at += 10) {
    const some = Array.from({ length: 10 }, () =>
      insertBareCard({ db, dependencies }, { usd: 100_000 }),
    )
    cards.push(...(await Promise.all(some)))
  }
  await db.run('vacuum analyze')
  await db.close()
  return { name, url, dependencies, cards }
}

/** As in the service: its role, and statements that are planned once. */
async function measure({ url, dependencies, cards }: Server, seconds: number): Promise<number> {
  const can_copy = await withDatabase(url, canCopy)
  await withDatabase(url, (db) => db.run('checkpoint'))
  const role = { name: SERVICE_ROLE, can_copy }
  const db = openDatabase(url, { pool_size: 3, key_lookups: true, role })
  const engine = makeEngine({ ...dependencies, db })
  const make = requestMaker({ dependencies, cards })
  const until_ms = performance.now() + seconds * 1_000
  let in_time = 0
  const send = async () => {
    while (performance.now() < until_ms) {
      const { decision } = await engine.submit(make())
      if (decision?.verdict !== 'approved') throw new Error('an authorization was declined')
      if (performance.now() <= until_ms) in_time += 1
    }
  }
  await Promise.all(Array.from({ length: IN_FLIGHT }, send))
  await engine.drain()
  await db.close()
  return in_time / seconds
}

const mean = (values: readonly number[]) =>
  values.reduce((sum, each) => sum + each, 0) / values.length

async function compare(plain_url: string, coordinator: string): Promise<void> {
  const data_dir = await mkdtemp(join(tmpdir(), 'florin_bench_'))
  const servers = [
    await fillServer('PostgreSQL', await preparePlain(plain_url), data_dir),
    await fillServer('Citus worker', await prepareCitus(coordinator), data_dir),
  ]
  const rates = new Map(servers.map(({ name }) => [name, [] as number[]]))
  for (const server of servers) await measure(server, SECONDS)
  for (let round = 0; round < ROUNDS; round += 1) {
    for (const server of servers) rates.get(server.name)?.push(await measure(server, SECONDS))
  }
  const means = [...rates].map(([name, each]) => {
    console.log(`${name.padEnd(14)}${each.map((rate) => rate.toFixed(0).padStart(7)).join('')}`)
    return mean(each)
  })
  console.log(`Citus worker to PostgreSQL: ${((means[1] ?? 0) / (means[0] ?? 1)).toFixed(2)}`)
  await inClient(plain_url, DROP)
  await inClient(coordinator, DROP)
  await rm(data_dir, { recursive: true, force: true })
}

const { BENCH_PLAIN_URL, FLORIN_TEST_CITUS_URL } = process.env
if (BENCH_PLAIN_URL === undefined || FLORIN_TEST_CITUS_URL === undefined) {
  console.log('Not run: BENCH_PLAIN_URL and FLORIN_TEST_CITUS_URL name no servers.')
} else await compare(BENCH_PLAIN_URL, FLORIN_TEST_CITUS_URL)
