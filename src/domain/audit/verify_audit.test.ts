import assert from 'node:assert/strict'
import { test } from 'node:test'
import { send } from '#test/support/http.ts'
import { createKey, openAccount } from '#test/support/people.ts'
import { startTestService } from '#test/support/start.ts'
import { type AuditRow, auditHash } from './audit.ts'
import { verifyAudit } from './verify_audit.ts'

const { url, runtime, owner_db: db } = await startTestService()

/** An account with five entries: its creation and four API keys. */
async function auditedAccount(): Promise<string> {
  const { account_id, bearer } = await openAccount(url)
  for (let at = 0; at < 4; at += 1) await createKey(url, bearer)
  return account_id
}

async function faultsOf(account_id: string): Promise<string[]> {
  const { faults } = await verifyAudit(db)
  return faults.filter((each) => each.account_id === account_id).map(({ fault }) => fault)
}

const entriesOf = (account_id: string) =>
  db.rows<AuditRow>('select * from audit_entries where account_id = $1 order by position', [
    account_id,
  ])

async function insertEntry(entry: AuditRow): Promise<void> {
  const names = Object.keys(entry)
  const places = names.map((_, at) => `$${at + 1}`)
  await db.run(
    `insert into audit_entries (${names.join(', ')}) values (${places.join(', ')})`,
    Object.values(entry),
  )
}

test('an unchanged log has no faults, and every account and entry is checked', async () => {
  const before = await verifyAudit(db)
  const account_id = await auditedAccount()
  let progress = 0
  const report = await verifyAudit(db, (entries) => {
    progress = entries
  })
  assert.deepEqual(report.faults, [])
  assert.equal(report.accounts, before.accounts + 1)
  assert.equal(report.entries, before.entries + 5)
  assert.equal(progress, report.entries)
  assert.equal((await entriesOf(account_id)).length, 5)
})

test('not even the table owner can update, delete or truncate entries', async () => {
  const account_id = await auditedAccount()
  const statements = [
    `update audit_entries set result = 'denied' where account_id = '${account_id}'`,
    `delete from audit_entries where account_id = '${account_id}'`,
    'truncate audit_entries',
    'delete from audit_entries where false',
  ]
  for (const statement of statements) {
    await assert.rejects(db.run(statement), /audit_entries is append-only/)
  }
  assert.deepEqual(await faultsOf(account_id), [])
})

test('concurrent writes form one chain without gaps', async () => {
  const { account_id, bearer } = await openAccount(url)
  await Promise.all(Array.from({ length: 50 }, () => createKey(url, bearer)))
  const entries = await entriesOf(account_id)
  assert.deepEqual(
    entries.map(({ position }) => position),
    Array.from({ length: 51 }, (_, at) => BigInt(at + 1)),
  )
  const ids = entries.map(({ id }) => id)
  assert.deepEqual(ids, ids.toSorted(), 'ids follow the order of the chain')
  assert.deepEqual(await faultsOf(account_id), [])
})

test('a log can be verified while entries are added', async () => {
  const { bearer } = await openAccount(url)
  const adding = Promise.all(Array.from({ length: 30 }, () => createKey(url, bearer)))
  for (let at = 0; at < 10; at += 1) assert.deepEqual((await verifyAudit(db)).faults, [])
  await adding
  assert.deepEqual((await verifyAudit(db)).faults, [])
})

/** The tests below act as a superuser who changes the log. */
const disableGuard = () =>
  db.run('alter table audit_entries disable trigger audit_entries_append_only')

const changes: Readonly<Record<string, string>> = {
  id: `'aud_00000000000000000000000000'`,
  action: `'something.else'`,
  actor_type: `'operator'`,
  actor_id: `'sess_somebody'`,
  actor_name: `'Somebody'`,
  operation: 'null',
  result: `'denied'`,
  resource_type: 'null',
  resource_id: `'key_other'`,
  ip: `'203.0.113.7'`,
  user_agent: 'null',
  request_id: `'req_other'`,
  created_at: `created_at - interval '1 millisecond'`,
  prev_hash: `repeat('0', 64)`,
  hash: `repeat('0', 64)`,
  position: 'position + 1000',
}

test('a change of any column is found', async () => {
  await disableGuard()
  const [entry] = await entriesOf(await auditedAccount())
  const columns = Object.keys(entry ?? {}).filter((name) => name !== 'account_id')
  assert.deepEqual(Object.keys(changes).sort(), columns.sort(), 'no column is left out')
  for (const [column, value] of Object.entries(changes)) {
    const account_id = await auditedAccount()
    await db.run(
      `update audit_entries set ${column} = ${value} where account_id = $1 and position = 3`,
      [account_id],
    )
    assert.notDeepEqual(await faultsOf(account_id), [], `${column} was changed`)
  }
})

test('a changed entry with a matching hash breaks the chain at the next entry', async () => {
  await disableGuard()
  const account_id = await auditedAccount()
  const [, , third] = await entriesOf(account_id)
  assert(third !== undefined)
  const { hash: _hash, ...content } = { ...third, action: 'something.else' }
  await db.run(
    'update audit_entries set action = $2, hash = $3 where account_id = $1 and position = 3',
    [account_id, content.action, auditHash(content)],
  )
  assert.deepEqual(await faultsOf(account_id), ['it does not follow the previous entry'])
})

test('a changed last entry with a matching hash differs from the head', async () => {
  await disableGuard()
  const account_id = await auditedAccount()
  const last = (await entriesOf(account_id)).at(-1)
  assert(last !== undefined)
  const { hash: _hash, ...content } = { ...last, action: 'something.else' }
  await db.run(
    'update audit_entries set action = $3, hash = $4 where account_id = $1 and position = $2',
    [account_id, last.position, content.action, auditHash(content)],
  )
  assert.deepEqual(await faultsOf(account_id), ['the chain does not reach its head'])
})

for (const position of [1, 3, 5]) {
  test(`a deleted entry is found: number ${position} of five`, async () => {
    await disableGuard()
    const account_id = await auditedAccount()
    await db.run('delete from audit_entries where account_id = $1 and position = $2', [
      account_id,
      position,
    ])
    assert.notDeepEqual(await faultsOf(account_id), [])
  })
}

test('an emptied log and a deleted sequence row are found', async () => {
  await disableGuard()
  const emptied = await auditedAccount()
  await db.run('delete from audit_entries where account_id = $1', [emptied])
  assert.notDeepEqual(await faultsOf(emptied), [])
  const headless = await auditedAccount()
  await db.run('delete from account_sequences where account_id = $1', [headless])
  assert.notDeepEqual(await faultsOf(headless), [])
})

test('an inserted entry is found: before the first, in the middle, after the last', async () => {
  await disableGuard()
  for (const position of [0n, -1n, 3n, 6n, 7n]) {
    const account_id = await auditedAccount()
    const entries = await entriesOf(account_id)
    const last = entries.at(-1)
    assert(last !== undefined)
    if (position === 3n) {
      // Moved one by one from the end, because positions are unique.
      for (const place of [5, 4, 3]) {
        await db.run(
          `update audit_entries set position = position + 1
            where account_id = $1 and position = $2`,
          [account_id, place],
        )
      }
      await db.run(
        'update account_sequences set audit_count = audit_count + 1 where account_id = $1',
        [account_id],
      )
    }
    const before = entries.find((entry) => entry.position === position - 1n) ?? last
    const id = runtime.newId('aud', runtime.clock.now())
    const content = { ...last, id, position, prev_hash: before.hash, action: 'never.happened' }
    const { hash: _hash, ...hashed } = content
    await insertEntry({ ...content, hash: auditHash(hashed) })
    assert.notDeepEqual(await faultsOf(account_id), [], `inserted at ${position}`)
  }
})

test('a fault names its account and entry; other accounts have none', async () => {
  await disableGuard()
  const [sound, broken] = [await auditedAccount(), await auditedAccount()]
  await db.run(`update audit_entries set ip = null where account_id = $1 and position = 2`, [
    broken,
  ])
  const { faults } = await verifyAudit(db)
  const [fault] = faults.filter(({ account_id }) => account_id === broken)
  assert.equal(fault?.position, 2n)
  assert.deepEqual(await faultsOf(sound), [])
  const reply = await send(url, 'GET', '/healthz')
  assert.equal(reply.status, 200)
})
