import assert from 'node:assert/strict'
import { test } from 'node:test'
import { send } from '#test/support/http.ts'
import { createKey, openAccount } from '#test/support/people.ts'
import { startTestService } from '#test/support/start.ts'
import { type AuditRow, auditHash } from './audit.ts'
import { verifyAudit } from './verify_audit.ts'

const { url, runtime, owner_db: db } = await startTestService()

/** An account with five entries: opened, and four keys made. */
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

test('an untouched log has no fault, and every account and entry is walked', async () => {
  const before = await verifyAudit(db)
  const account_id = await auditedAccount()
  let told = 0
  const report = await verifyAudit(db, (entries) => {
    told = entries
  })
  assert.deepEqual(report.faults, [])
  assert.equal(report.accounts, before.accounts + 1)
  assert.equal(report.entries, before.entries + 5)
  assert.equal(told, report.entries)
  assert.equal((await entriesOf(account_id)).length, 5)
})

test('entries cannot be changed, deleted or cut off, not by their owner either', async () => {
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

test('entries of writes made at once form one chain without gaps', async () => {
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

test('it can be walked while entries are being added', async () => {
  const { bearer } = await openAccount(url)
  const adding = Promise.all(Array.from({ length: 30 }, () => createKey(url, bearer)))
  for (let at = 0; at < 10; at += 1) assert.deepEqual((await verifyAudit(db)).faults, [])
  await adding
  assert.deepEqual((await verifyAudit(db)).faults, [])
})

/** From here on somebody with the powers of a superuser is at work. */
const unguard = () => db.run('alter table audit_entries disable trigger audit_entries_append_only')

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

test('a change of any column shows', async () => {
  await unguard()
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

test('a changed entry with its hash made to fit shows in the one after it', async () => {
  await unguard()
  const account_id = await auditedAccount()
  const [, , third] = await entriesOf(account_id)
  assert(third !== undefined)
  const { hash: _hash, ...content } = { ...third, action: 'something.else' }
  await db.run(
    'update audit_entries set action = $2, hash = $3 where account_id = $1 and position = 3',
    [account_id, content.action, auditHash(content)],
  )
  assert.deepEqual(await faultsOf(account_id), ['it does not follow the entry before it'])
})

for (const position of [1, 3, 5]) {
  test(`a deleted entry shows: number ${position} of five`, async () => {
    await unguard()
    const account_id = await auditedAccount()
    await db.run('delete from audit_entries where account_id = $1 and position = $2', [
      account_id,
      position,
    ])
    assert.notDeepEqual(await faultsOf(account_id), [])
  })
}

test('a log that was emptied shows, and so does one whose head is gone', async () => {
  await unguard()
  const emptied = await auditedAccount()
  await db.run('delete from audit_entries where account_id = $1', [emptied])
  assert.notDeepEqual(await faultsOf(emptied), [])
  const headless = await auditedAccount()
  await db.run('delete from account_heads where account_id = $1', [headless])
  assert.notDeepEqual(await faultsOf(headless), [])
})

test('an inserted entry shows: before the first, in the middle, and after the last', async () => {
  await unguard()
  for (const position of [0n, -1n, 3n, 6n, 7n]) {
    const account_id = await auditedAccount()
    const entries = await entriesOf(account_id)
    const last = entries.at(-1)
    assert(last !== undefined)
    if (position === 3n) {
      // Moved up one by one from the end, since no two may have one place at any moment.
      for (const place of [5, 4, 3]) {
        await db.run(
          `update audit_entries set position = position + 1
            where account_id = $1 and position = $2`,
          [account_id, place],
        )
      }
      await db.run('update account_heads set audit_count = audit_count + 1 where account_id = $1', [
        account_id,
      ])
    }
    const before = entries.find((entry) => entry.position === position - 1n) ?? last
    const id = runtime.newId('aud', runtime.clock.now())
    const content = { ...last, id, position, prev_hash: before.hash, action: 'never.happened' }
    const { hash: _hash, ...hashed } = content
    await insertEntry({ ...content, hash: auditHash(hashed) })
    assert.notDeepEqual(await faultsOf(account_id), [], `inserted at ${position}`)
  }
})

test('one account’s fault is told with its account, and the others’ logs stay sound', async () => {
  await unguard()
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
