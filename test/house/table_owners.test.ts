import { strict as assert } from 'node:assert'
import { test } from 'node:test'
import { tableOwnerViolations } from '#scripts/table_owners.ts'

const CARDS = 'src/domain/cards/card_store.ts'

/** The problems found in one source file. */
const problemsIn = (path: string, text: string): string[] =>
  tableOwnerViolations([{ path, text }]).map(({ problem }) => problem)

test('only the owner of a table writes to it', () => {
  const writes = [
    "tx.run('insert into purses (account_id) values ($1)')",
    'tx.run(`\n  update purses p set held_micros = 0`)',
    "tx.run('delete from purses')",
    "tx.run('truncate purses')",
    "tx.run('copy purses from stdin')",
    "tx.run('lock table purses')",
    "tx.run('alter table purses add note text')",
    "tx.run('drop table if exists purses')",
    "const add = rowSet<PurseRow>('purses', {})",
    "const secrets = sealedColumn('purses', 'secret_sealed', 'test')",
    'tx.run(`with a as (select 1) insert into purses as p select * from a`)',
  ]
  for (const text of writes) {
    assert.deepEqual(problemsIn(CARDS, text), ['writes to or locks purses'], text)
    assert.deepEqual(problemsIn('src/domain/ledger/ledger_store.ts', text), [], text)
  }
  assert.deepEqual(problemsIn(CARDS, "tx.run('update cards set name = $1')"), [])
})

test('only the owner of a table locks its rows', () => {
  const locks = [
    "'select 1 from accounts where id = $1 for update'",
    '`select 1 from accounts a where a.id = $1 for no key update of a skip locked`',
    '`select c.id from cards c join accounts using (id) for share`',
    '`update cards set name = 1 where id in (select id from accounts for update)`',
  ]
  for (const text of locks) {
    assert.deepEqual(problemsIn(CARDS, text), ['writes to or locks accounts'], text)
  }
  const own = [
    '`select c.id from cards c join accounts a on a.id = c.account_id for update of c`',
    '`select id, (select status from accounts) from cards for update`',
    "'select 1 from accounts where id = $1'",
  ]
  for (const text of own) assert.deepEqual(problemsIn(CARDS, text), [], text)
})

test('a table that is written to is named in the statement', () => {
  for (const statement of ['update', 'alter table', 'drop table']) {
    const text = `tx.run(\`${statement} \${table} set a = 1\`)`
    assert.deepEqual(problemsIn(CARDS, text), ['writes to a computed table'], statement)
  }
})

test('purses, movements and the views over them are read by the ledger only', () => {
  for (const table of ['purses', 'movements', 'purse_balances', 'entries']) {
    const text = `tx.rows(\`select 1 from cards c left join ${table} p on true\`)`
    assert.deepEqual(problemsIn(CARDS, text), [`reads ${table}`])
    assert.deepEqual(problemsIn('src/domain/ledger/balances.ts', text), [])
  }
})

test('comments and tests may name any table', () => {
  assert.deepEqual(problemsIn(CARDS, '// delete from purses\n/** update movements */'), [])
  assert.deepEqual(problemsIn('src/domain/cards/a.test.ts', "run('delete from purses')"), [])
})

test('every table and view of the migrations has an owner, and only those are listed', () => {
  const found = tableOwnerViolations([
    { path: 'migrations/0001_loans.sql', text: 'create view loans as\n;\ncreate table cards (' },
  ]).map(({ problem }) => problem)
  assert.equal(found[0], 'has no owner for loans')
  assert.ok(found.includes('lists purses, which does not exist'))
  assert.ok(!found.includes('lists cards, which does not exist'))
})
