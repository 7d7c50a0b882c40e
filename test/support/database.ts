import { randomBytes } from 'node:crypto'
import pg from 'pg'
import { openDatabase } from '#platform/postgres/db.ts'
import { migrate } from '#platform/postgres/migrate.ts'

const TEMPLATE = 'florin_template'

const withDatabase = (url: string, name: string) => {
  const address = new URL(url)
  address.pathname = `/${name}`
  return address.toString()
}

async function administer<Value>(url: string, work: (client: pg.Client) => Promise<Value>) {
  const client = new pg.Client({ connectionString: withDatabase(url, 'postgres') })
  await client.connect()
  try {
    return await work(client)
  } finally {
    await client.end()
  }
}

/** Migrated once; every test file clones it instead of migrating again. */
export async function prepareTemplate(url: string): Promise<void> {
  await administer(url, async (client) => {
    // Tests connect thousands of times, and 4,096 iterations take six milliseconds.
    await client.query('set scram_iterations = 1')
    await client.query(`alter role postgres password '${new URL(url).password}'`)
    await client.query(`drop database if exists ${TEMPLATE}`)
    await client.query(`create database ${TEMPLATE}`)
  })
  const db = openDatabase(withDatabase(url, TEMPLATE), { pool_size: 1 })
  await migrate(db)
  await db.close()
}

export type TestDatabase = { url: string; drop(): Promise<void> }

/** A new database, cloned from the template or from a database that nobody is connected to. */
export async function cloneDatabase(template = TEMPLATE): Promise<TestDatabase> {
  const url = requireTestServer()
  const name = `test_${randomBytes(6).toString('hex')}`
  await administer(url, (client) =>
    client.query(`create database ${name} template ${template} strategy file_copy`),
  )
  return {
    url: withDatabase(url, name),
    drop: () =>
      administer(url, async (client) => {
        await client.query(`drop database ${name} with (force)`)
      }),
  }
}

/**
 * A database that all test files share, made by the first that needs it. Nobody may change it or
 * stay connected: it is a template to clone.
 */
export async function sharedTemplate(
  name: string,
  fill: (url: string) => Promise<void>,
): Promise<string> {
  const url = requireTestServer()
  await administer(url, async (client) => {
    await client.query('select pg_advisory_lock(hashtextextended($1, 0))', [name])
    const { rows } = await client.query('select from pg_database where datname = $1', [name])
    if (rows.length > 0) return
    const draft = `${name}_draft`
    await client.query(`drop database if exists ${draft} with (force)`)
    await client.query(`create database ${draft} template ${TEMPLATE}`)
    await fill(withDatabase(url, draft))
    const connected = 'select pg_terminate_backend(pid) from pg_stat_activity where datname = $1'
    await client.query(connected, [draft])
    await client.query(`alter database ${draft} rename to ${name}`)
  })
  return name
}

function requireTestServer(): string {
  const url = process.env['FLORIN_TEST_DATABASE_URL']
  if (url !== undefined) return url
  throw new Error('run tests with `npm test -- <part of a path>`: it starts their database')
}
