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
    await client.query(`drop database if exists ${TEMPLATE}`)
    await client.query(`create database ${TEMPLATE}`)
  })
  const db = openDatabase(withDatabase(url, TEMPLATE), { pool_size: 1 })
  await migrate(db)
  await db.close()
}

export type TestDatabase = { url: string; drop(): Promise<void> }

/** A new database for one test file, cloned from the template. */
export async function cloneDatabase(): Promise<TestDatabase> {
  const url = process.env['FLORIN_TEST_DATABASE_URL']
  if (url === undefined) {
    throw new Error('run tests with `npm test -- <part of a path>`: it starts their database')
  }
  const name = `test_${randomBytes(6).toString('hex')}`
  await administer(url, (client) => client.query(`create database ${name} template ${TEMPLATE}`))
  return {
    url: withDatabase(url, name),
    drop: () =>
      administer(url, async (client) => {
        await client.query(`drop database ${name} with (force)`)
      }),
  }
}
