import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import pg from 'pg'
import { cloneDatabase } from '#test/support/database.ts'
import { sendPipeline, sendStatement } from './send_statement.ts'
import { prepared } from './statement.ts'

const clone = await cloneDatabase()
const client = new pg.Client({ connectionString: clone.url })
await client.connect()
after(async () => {
  await client.end()
  await clone.drop()
})
await client.query('create table jars (name text primary key, size int check (size > 0))')

const send = (text: string, ...params: unknown[]) => sendStatement(client, prepared(text, params))
const insert = (name: string, size = 1) => send('insert into jars values ($1, $2)', name, size)
const namesOfJars = async () => {
  const { rows } = await send('select name from jars order by name')
  return rows.map(({ name }) => name as string)
}

/** Counts the messages that the server sends while `work` runs. */
async function countMessages(work: () => Promise<unknown>): Promise<Record<string, number>> {
  const counts: Record<string, number> = {}
  const { connection } = client as unknown as { connection: pg.Connection }
  const count = ({ name }: { name: string }) => {
    counts[name] = (counts[name] ?? 0) + 1
  }
  connection.on('message', count)
  await work()
  connection.off('message', count)
  return counts
}

test('statements of one turn are sent with one Sync, and each gets its own result', async () => {
  const counts = await countMessages(async () => {
    const [one, many, none, changed] = await Promise.all([
      send('select 1 as a, null as b'),
      send('select generate_series(1, 3) as n'),
      send('select 1 as a where false'),
      insert('first'),
    ])
    assert.deepEqual(one.rows, [{ a: 1, b: null }])
    assert.deepEqual(many.rows, [{ n: 1 }, { n: 2 }, { n: 3 }])
    assert.deepEqual([none.rows, none.rowCount], [[], 0])
    assert.deepEqual([changed.rowCount, changed.command], [1, 'INSERT'])
  })
  assert.equal(counts['readyForQuery'], 1)
})

test('a statement is parsed and described once per connection', async () => {
  const read = () => send('select name, size from jars where name = $1', 'first')
  const first = await countMessages(read)
  assert.deepEqual([first['parseComplete'], first['rowDescription']], [1, 1])
  const second = await countMessages(read)
  assert.deepEqual([second['parseComplete'], second['rowDescription']], [undefined, undefined])
  assert.deepEqual((await read()).rows, [{ name: 'first', size: 1 }])
})

test('after a failure the rest is skipped, and outside a transaction nothing is kept', async () => {
  const results = await Promise.allSettled([insert('good'), insert('bad', 0), insert('after')])
  assert.deepEqual(
    results.map((result) => (result.status === 'rejected' ? result.reason.code : result.status)),
    ['fulfilled', '23514', '23514'],
  )
  assert.deepEqual(await namesOfJars(), ['first'])
})

test('a failure at the implicit commit rejects every statement', async () => {
  await send(`create function refuse() returns trigger language plpgsql as
    $$ begin raise exception 'refused at commit'; end $$`)
  await send(`create constraint trigger refuse_at_commit after insert on jars
    deferrable initially deferred for each row execute function refuse()`)
  const results = await Promise.allSettled([insert('one'), insert('two')])
  await send('drop trigger refuse_at_commit on jars')
  assert.ok(results.every(({ status }) => status === 'rejected'))
  assert.deepEqual(await namesOfJars(), ['first'])
})

test('a statement whose first use failed works the next time', async () => {
  const divide = (by: number) => send('select 6 / $1::int as result', by)
  await assert.rejects(divide(0), { code: '22012' })
  assert.deepEqual((await divide(2)).rows, [{ result: 3 }])
  await assert.rejects(send('select from nowhere'), { code: '42P01' })
  await assert.rejects(send('select from nowhere'), { code: '42P01' })
})

test('a COPY is one statement among others', async () => {
  const rows = Buffer.from('copied\t2\nsecond\t3\n')
  const [, copied, { rows: counted }] = await Promise.all([
    insert('before'),
    sendStatement(client, prepared('copy jars from stdin', []), rows),
    send('select count(*)::int as count from jars'),
  ])
  assert.deepEqual([copied.rowCount, counted], [2, [{ count: 4 }]])
  const bad = sendStatement(client, prepared('copy jars from stdin', []), Buffer.from('bad\t0\n'))
  const [refused, skipped] = await Promise.allSettled([bad, insert('after')])
  assert.deepEqual([refused?.status, skipped?.status], ['rejected', 'rejected'])
  assert.equal((await namesOfJars()).length, 4)
})

test('sendPipeline does not wait for the end of the turn', async () => {
  const sent = insert('early')
  sendPipeline(client)
  const { rows } = await client.query(`select name from jars where name = 'early'`)
  assert.equal(rows.length, 1)
  await sent
})

test('a value that cannot be sent fails alone', async () => {
  const circular: Record<string, unknown> = {}
  circular['self'] = circular
  const [failed, inserted] = await Promise.allSettled([
    send('select $1::jsonb', circular),
    insert('beside'),
  ])
  assert.deepEqual([failed?.status, inserted?.status], ['rejected', 'fulfilled'])
})

test('statements of a lost connection fail', async () => {
  const lost = new pg.Client({ connectionString: clone.url })
  lost.on('error', () => undefined)
  await lost.connect()
  const [sleeping, waiting] = [prepared('select pg_sleep(30)', []), prepared('select 1', [])].map(
    (statement) => sendStatement(lost, statement),
  )
  const outcome = Promise.allSettled([sleeping, waiting])
  setTimeout(() => {
    ;(lost as unknown as { connection: pg.Connection }).connection.stream.destroy()
  }, 50)
  const results = await outcome
  assert.ok(results.every(({ status }) => status === 'rejected'))
})
