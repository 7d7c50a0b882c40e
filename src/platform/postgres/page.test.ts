import assert from 'node:assert/strict'
import { randomBytes, randomInt } from 'node:crypto'
import { after, before, test } from 'node:test'
import fc from 'fast-check'
import { Problem } from '#contract/problem.ts'
import { idMaker } from '#kernel/id.ts'
import { cloneDatabase, type TestDatabase } from '#test/support/database.ts'
import { type Database, openDatabase, type Tx } from './db.ts'
import {
  anyOf,
  type Condition,
  equals,
  makePageReader,
  mapPage,
  type PageInput,
  readPage,
} from './page.ts'

type Row = { id: string; kind: string; created_at: Date }

const seed = Number(process.env['FC_SEED'] ?? randomInt(2 ** 31 - 1))
const newId = idMaker(randomBytes)
const START_MS = Date.UTC(2026, 10, 15)
const KINDS = ['load', 'spend', 'refund']

let clone: TestDatabase
let db: Database
/** The rows of the small account, oldest first. */
let rows: Row[] = []

before(async () => {
  clone = await cloneDatabase()
  db = openDatabase(clone.url, { pool_size: 3 })
  await db.run(`create table lines (account_id text collate "C" not null,
    id text collate "C" not null, kind text not null, created_at timestamptz not null,
    primary key (account_id, id))`)
  await db.run('create index on lines (kind, id)')
  // Three rows per millisecond, so that the filters meet rows with the same timestamp.
  rows = Array.from({ length: 61 }, (_, at) => {
    const created_ms = START_MS + Math.floor(at / 3)
    const kind = KINDS[(at * 7) % 3] ?? ''
    return { id: newId('txn', created_ms), kind, created_at: new Date(created_ms) }
  })
  await insert('small', rows)
})
after(async () => {
  await db.close()
  await clone.drop()
})

async function insert(account_id: string, lines: readonly Row[]): Promise<void> {
  await db.run(
    `insert into lines select $1, * from unnest($2::text[], $3::text[], $4::timestamptz[])`,
    [
      account_id,
      lines.map(({ id }) => id),
      lines.map(({ kind }) => kind),
      lines.map(({ created_at }) => created_at),
    ],
  )
}

/** `each` reads a page of every kind. */
type TestPageInput = PageInput & { kind?: string; each?: 'kind' }

function read(account_id: string, input: TestPageInput, tx: Tx = db, operation = 'list_lines') {
  const of_account: Condition = ['account_id = ?', account_id]
  const values = input.kind?.split(',') ?? []
  const kinds =
    input.each === undefined
      ? { where: [of_account, ...anyOf('kind', input.kind)] }
      : { where: [of_account], each: { column: 'kind', values } }
  return readPage<Row>(tx, {
    operation,
    prefix: 'txn',
    select: 'select * from lines',
    ...kinds,
    input,
  })
}

async function walk(account_id: string, input: TestPageInput): Promise<string[]> {
  const ids: string[] = []
  let cursor: string | undefined
  for (let pages = 0; pages < 1_000; pages += 1) {
    const page = await read(account_id, cursor === undefined ? input : { ...input, cursor })
    assert.ok(page.data.length <= (input.limit ?? 25))
    assert.equal(page.has_more, page.next_cursor !== null)
    ids.push(...page.data.map(({ id }) => id))
    if (page.next_cursor === null) return ids
    assert.ok(page.data.length > 0)
    cursor = page.next_cursor
  }
  throw new Error('the walk does not end')
}

const iso = (ms: number) => new Date(ms).toISOString()

test('the pages of a list contain every row once, in order, for any size, order and filters', async (t) => {
  t.diagnostic(`seed ${seed}`)
  const offset = fc.option(fc.integer({ min: -2, max: 23 }), { nil: undefined })
  const asked = fc.record({
    limit: fc.integer({ min: 1, max: 100 }),
    order: fc.constantFrom('asc' as const, 'desc' as const, undefined),
    kinds: fc.option(fc.subarray(KINDS, { minLength: 1 }), { nil: undefined }),
    is_each: fc.boolean(),
    gt: offset,
    gte: offset,
    lt: offset,
    lte: offset,
  })
  const property = fc.asyncProperty(asked, async (drawn) => {
    const { limit, order, kinds, is_each, gt, gte, lt, lte } = drawn
    const input: TestPageInput = {
      limit,
      ...(order && { order }),
      ...(kinds && { kind: kinds.join(',') }),
      ...(kinds && is_each && { each: 'kind' as const }),
      ...(gt !== undefined && { created_gt: iso(START_MS + gt) }),
      ...(gte !== undefined && { created_gte: iso(START_MS + gte) }),
      ...(lt !== undefined && { created_lt: iso(START_MS + lt) }),
      ...(lte !== undefined && { created_lte: iso(START_MS + lte) }),
    }
    const expected = rows.filter(({ kind, created_at }) => {
      const at = created_at.getTime() - START_MS
      return (
        (kinds?.includes(kind) ?? true) &&
        at > (gt ?? -9) &&
        at >= (gte ?? -9) &&
        at < (lt ?? 99) &&
        at <= (lte ?? 99)
      )
    })
    const ids = expected.map(({ id }) => id)
    assert.deepEqual(await walk('small', input), order === 'asc' ? ids : ids.reverse())
  })
  await fc.assert(property, { seed, numRuns: 120 })
})

test('a page of several values has each row once, if a value is sent twice or not at all', async () => {
  const ids = rows.filter(({ kind }) => kind === 'load').map(({ id }) => id)
  const twice = { each: 'kind', kind: 'load,load', order: 'asc' } as const
  assert.deepEqual(await walk('small', twice), ids)
  const none = { operation: 'list_lines', prefix: 'txn', select: 'select * from lines' } as const
  const page = await readPage(db, { ...none, each: { column: 'kind', values: [] }, input: {} })
  assert.deepEqual(page.data, [])
})

test('a page neither repeats nor skips a row while rows are being added', async () => {
  const old = rows.map((row) => ({ ...row, id: newId('txn', row.created_at.getTime()) }))
  await insert('busy', old)
  const seen: string[] = []
  let cursor: string | undefined
  for (let at = 0; at < 10; at += 1) {
    const page = await read('busy', { limit: 7, ...(cursor !== undefined && { cursor }) })
    seen.push(...page.data.map(({ id }) => id))
    const created_at = new Date(START_MS + 60_000 + at)
    await insert('busy', [{ id: newId('txn', created_at.getTime()), kind: 'load', created_at }])
    if (page.next_cursor === null) break
    cursor = page.next_cursor
  }
  assert.deepEqual(seen, old.map(({ id }) => id).reverse())
})

test('the page size may change between pages; filters, order and list may not', async () => {
  const input: TestPageInput = { limit: 5, kind: 'load', created_gte: iso(START_MS) }
  const { next_cursor, data } = await read('small', input)
  const cursor = next_cursor ?? ''
  const next = await read('small', { ...input, limit: 50, cursor })
  assert.ok(next.data.length > 5 && (next.data[0]?.id ?? '') < (data[4]?.id ?? ''))
  const others: TestPageInput[] = [
    { ...input, kind: 'spend', cursor },
    { ...input, kind: 'load,spend', cursor },
    { ...input, order: 'asc', cursor },
    { ...input, created_gte: iso(START_MS + 1), cursor },
    { ...input, created_lt: iso(START_MS + 99), cursor },
    { limit: 5, kind: 'load', cursor },
  ]
  for (const other of others) await refusesCursor(read('small', other))
  await refusesCursor(read('small', { ...input, cursor }, db, 'list_others'))
  assert.equal((await read('small', { ...input, order: 'desc', cursor })).data.length, 5)
})

async function refusesCursor(work: Promise<unknown>): Promise<void> {
  await assert.rejects(
    work,
    (cause) => cause instanceof Problem && cause.code === 'invalid_cursor' && cause.status === 400,
  )
}

test('a malformed cursor is refused with invalid_cursor', async (t) => {
  t.diagnostic(`seed ${seed}`)
  const cursor = (await read('small', { limit: 1 })).next_cursor ?? ''
  const id = rows[3]?.id ?? ''
  const forged = (text: string) => Buffer.from(text).toString('base64url')
  const absurd = ['', '.', '0', 'null', '%00', '\u0000', '😀', "' or 1=1--", 'a'.repeat(512)]
  const crafted = [id, `.${id}`, `x.${id}`, `${'x'.repeat(12)}.card_${id.slice(4)}`]
  for (const each of [...absurd, ...crafted.map(forged), cursor.slice(2), cursor.slice(0, -4)]) {
    await refusesCursor(read('small', { limit: 1, cursor: each }))
  }
  const property = fc.asyncProperty(fc.string({ unit: 'binary', maxLength: 100 }), async (text) => {
    await refusesCursor(read('small', { cursor: text }))
    await refusesCursor(read('small', { cursor: forged(text) }))
  })
  await fc.assert(property, { seed, numRuns: 100 })
})

test('a filter finer than a millisecond keeps the rows of that millisecond on their side', async () => {
  const [first, second] = [rows.slice(0, 3), rows.slice(3, 6)].map((some) =>
    some.map(({ id }) => id),
  )
  for (const finer of [iso(START_MS).replace('Z', '001Z'), '2026-11-15T01:00:00.0000005+01:00']) {
    assert.deepEqual((await walk('small', { created_lt: finer })).toReversed(), first)
    assert.deepEqual((await walk('small', { created_lte: finer })).toReversed(), first)
    const next = { created_lt: iso(START_MS + 2) }
    assert.deepEqual((await walk('small', { ...next, created_gt: finer })).toReversed(), second)
    assert.deepEqual((await walk('small', { ...next, created_gte: finer })).toReversed(), second)
  }
})

test('a timestamp that does not exist is refused, and the error names its field', async () => {
  for (const field of ['created_gt', 'created_gte', 'created_lt', 'created_lte'] as const) {
    const work = read('small', { [field]: '2016-12-31T23:59:60Z' })
    await assert.rejects(work, (cause) => {
      assert.ok(cause instanceof Problem)
      assert.equal(cause.code, 'invalid_request')
      assert.equal(cause.details?.[0]?.field, field)
      return true
    })
  }
})

test('a list without conditions contains the rows of every account', async () => {
  const row = { id: newId('txn', START_MS), kind: 'load', created_at: new Date(START_MS) }
  await insert('other', [row])
  const readLines = makePageReader<Row>({ prefix: 'txn', select: 'select * from lines' })
  const input: PageInput = { limit: 100, created_lte: iso(START_MS) }
  const page = mapPage(await readLines(db, { operation: 'list_all', input }), ({ id }) => id)
  for (const { id } of [row, ...rows.slice(0, 3)]) assert.ok(page.data.includes(id))
})

test('an absent filter adds no condition', () => {
  assert.deepEqual(anyOf('kind', undefined), [])
  assert.deepEqual(equals('kind', undefined), [])
  assert.deepEqual(anyOf('kind', 'a,b'), [['kind = any(?)', ['a', 'b']]])
  assert.deepEqual(anyOf('kind', 'a'), [['kind = ?', 'a']])
  assert.deepEqual(equals('kind', 'a'), [['kind = ?', 'a']])
})

type Plan = { 'Node Type': string; Plans?: Plan[]; 'Actual Rows'?: number }

const nodesOf = (plan: Plan): string[] => [
  plan['Node Type'],
  ...(plan.Plans ?? []).flatMap(nodesOf),
]

test('every page of 100,000 rows is read from the index, without a sort or table scan', async () => {
  await db.run(
    `insert into lines
     select 'large', 'txn_' || lpad(n::text, 26, '0'), (array['load', 'spend'])[n % 2 + 1],
            to_timestamp(n) from generate_series(1, 100000) n`,
  )
  await db.run('analyze lines')
  const first = await read('large', { limit: 100 })
  const inputs: TestPageInput[] = [
    {},
    { order: 'asc' },
    { limit: 100, cursor: first.next_cursor ?? '' },
    { created_gte: iso(0), created_lt: iso(START_MS) },
  ]
  for (const input of inputs) {
    for (const mode of ['force_custom_plan', 'force_generic_plan']) {
      const nodes = await plannedNodes(input, mode)
      const found = nodes.join(', ')
      assert.ok(
        nodes.some((node) => /^Index (Only )?Scan$/.test(node)),
        `${mode}: ${found}`,
      )
      assert.ok(!nodes.some((node) => /Sort|Seq Scan|Bitmap/.test(node)), `${mode}: ${found}`)
    }
  }
})

/** The plan of exactly the statement that readPage sends, as a prepared statement. */
async function plannedNodes(input: TestPageInput, mode: string): Promise<string[]> {
  return db.connection(async (client) => {
    let nodes: string[] = []
    await client.query(`set plan_cache_mode = ${mode}`)
    const spy: Tx = {
      ...db,
      rows: async (sql, params = []) => {
        const types = params.map((value) =>
          Array.isArray(value) ? 'text[]' : typeof value === 'number' ? 'bigint' : 'text',
        )
        const literal = params.map((value) =>
          typeof value === 'number' ? String(value) : client.escapeLiteral(String(value)),
        )
        await client.query(`prepare page (${types.join(', ')}) as ${sql}`)
        const { rows: lines } = await client.query(
          `explain (analyze, format json) execute page(${literal.join(', ')})`,
        )
        await client.query('deallocate page')
        nodes = nodesOf(lines[0]['QUERY PLAN'][0].Plan as Plan)
        return []
      },
    }
    await read('large', input, spy)
    return nodes
  })
}

test('the statement of a page is planned once per connection, also if its size is unusual', async () => {
  await db.connection(async (client) => {
    await client.query('set plan_cache_mode = auto')
    const spy: Tx = {
      ...db,
      rows: async (sql, params = []) => {
        const types = params.map(() => 'text').join(', ')
        const values = params.map((value) => client.escapeLiteral(String(value))).join(', ')
        await client.query(`prepare page (${types}) as ${sql}`)
        for (let time = 0; time < 7; time += 1) await client.query(`execute page (${values})`)
        const { rows } = await client.query(
          `select custom_plans, generic_plans from pg_prepared_statements where name = 'page'`,
        )
        await client.query('deallocate page')
        // PostgreSQL keeps a plan after five others, if it costs no more.
        assert.deepEqual(rows, [{ custom_plans: 5n, generic_plans: 2n }])
        return []
      },
    }
    for (const limit of [1, 7, 20, 25, 40]) await read('large', { limit }, spy)
  })
})

test('a page deep in 100,000 rows costs as much as the first one', async () => {
  const touched = async (input: TestPageInput) => {
    let buffers = 0
    await db.connection(async (client) => {
      const spy: Tx = {
        ...db,
        rows: async (sql, params = []) => {
          const explained = `explain (analyze, buffers, format json) ${sql}`
          const { rows: lines } = await client.query(explained, params as unknown[])
          const plan = lines[0]['QUERY PLAN'][0].Plan as Record<string, number>
          buffers = (plan['Shared Hit Blocks'] ?? 0) + (plan['Shared Read Blocks'] ?? 0)
          return []
        },
      }
      await read('large', input, spy)
    })
    return buffers
  }
  let page = await read('large', { limit: 100 })
  const first = await touched({ limit: 100, cursor: page.next_cursor ?? '' })
  for (let at = 0; at < 200; at += 1) {
    page = await read('large', { limit: 100, cursor: page.next_cursor ?? '' })
  }
  const deep = await touched({ limit: 100, cursor: page.next_cursor ?? '' })
  assert.ok(deep <= first + 3, `${first} blocks for the second page, ${deep} for the 202nd`)
})
