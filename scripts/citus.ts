import { spawnSync } from 'node:child_process'
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import pg from 'pg'
import { openDatabase } from '#platform/postgres/db.ts'
import { migrate } from '#platform/postgres/migrate.ts'
import { root } from '#platform/runtime/root.ts'
import { changePartitions } from './citus/change_partitions.ts'
import {
  type ExplainResult,
  explainStatements,
  type RecordedStatement,
} from './citus/explain_statements.ts'

/**
 * `npm run test:citus`: applies the schema to a distributed schema of Citus, changes partitions
 * there, runs the tests that need Citus, and plans every statement that the test suite sends.
 * Arguments limit the suite, as with `npm test`.
 */
const SCHEMA = 'florin_cell'

async function createDistributedSchema(server: string): Promise<void> {
  await inClient(server, async (client) => {
    await client.query('create extension if not exists citus')
    await client.query('set citus.enable_schema_based_sharding = on')
    await client.query(`drop schema if exists ${SCHEMA} cascade`)
    await client.query(`create schema ${SCHEMA}`)
  })
}

function withSchema(server: string): string {
  const address = new URL(server)
  address.searchParams.set('options', `-c search_path=${SCHEMA}`)
  return address.toString()
}

async function migrateSchema(server: string): Promise<string[]> {
  const db = openDatabase(server, { pool_size: 1 })
  try {
    return await migrate(db)
  } finally {
    await db.close()
  }
}

/** The worker that has the schema's rows; nodes connect to it. */
async function homeOf(server: string): Promise<string> {
  const home = new URL(withSchema(server))
  await inClient(home.toString(), async (client) => {
    const { rows } = await client.query<{ host: string; port: number }>(
      `select nodename as host, nodeport as port from citus_shards
        where table_name = 'accounts'::regclass`,
    )
    home.hostname = rows[0]?.host ?? ''
    home.port = String(rows[0]?.port)
  })
  return home.toString()
}

/** Runs the tests with a recorder in each of their processes. */
function recordStatements(fragments: readonly string[]): RecordedStatement[] {
  const folder = mkdtempSync(join(tmpdir(), 'florin-statements-'))
  const recorder = new URL('./citus/record_statements.js', import.meta.url)
  try {
    const { status } = spawnSync('npm', ['test', '--', ...fragments], {
      cwd: root,
      stdio: 'inherit',
      env: {
        ...process.env,
        NODE_OPTIONS: `--import ${recorder.href}`,
        FLORIN_TEST_STATEMENTS: folder,
      },
    })
    if (status !== 0) console.log('Tests failed; what they sent until then is explained.')
    const lines = readdirSync(folder).flatMap((name) => linesOf(join(folder, name)))
    return [...new Set(lines)].sort().map((line) => JSON.parse(line) as RecordedStatement)
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

/** The files that end with .citus.test.ts. */
function runCitusTests(): boolean {
  const { status } = spawnSync('npm', ['test', '--', '--citus'], { cwd: root, stdio: 'inherit' })
  return status === 0
}

const linesOf = (path: string): string[] =>
  readFileSync(path, 'utf8')
    .split('\n')
    .filter((line) => line !== '')

/** A whole run sends more than a thousand; far fewer mean that the recorder misses them. */
const PLANNED_MIN = 800

function report({ planned, other, refused }: ExplainResult, planned_min: number): number {
  for (const { text, is_generic, reason } of refused) {
    console.log(`\n${reason}${is_generic ? ' (generic plan)' : ''}\n  ${text.trim()}`)
  }
  console.log(
    `\n${planned} statements planned, ${refused.length} refused, ${other} of other kinds.`,
  )
  if (planned < planned_min) console.log(`At least ${planned_min} were expected.`)
  return planned >= planned_min && refused.length === 0 ? 0 : 1
}

async function inClient<Value>(
  server: string,
  work: (client: pg.Client) => Promise<Value>,
): Promise<Value> {
  const client = new pg.Client({ connectionString: server })
  await client.connect()
  try {
    return await work(client)
  } finally {
    await client.end()
  }
}

const url = process.env['FLORIN_TEST_CITUS_URL']
if (url === undefined) {
  console.log('Not run: FLORIN_TEST_CITUS_URL names no Citus server.')
} else {
  await createDistributedSchema(url)
  const names = await migrateSchema(withSchema(url))
  console.log(`${names.length} migrations applied to a distributed schema.`)
  const worker = await homeOf(url)
  await changePartitions({ coordinator: withSchema(url), worker })
  console.log('Partitions were added, emptied and detached.')
  const isFollowed = runCitusTests()
  const fragments = process.argv.slice(2)
  const statements = recordStatements(fragments)
  const explained = await inClient(worker, (client) => explainStatements(client, statements))
  const code = report(explained, fragments.length === 0 ? PLANNED_MIN : 1)
  process.exitCode = isFollowed ? code : 1
}
