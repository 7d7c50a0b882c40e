import assert from 'node:assert/strict'
import { test } from 'node:test'
import { openAccount } from '#test/support/people.ts'
import { startTestService } from '#test/support/start.ts'
import { type AuditRow, auditHash, genesisHash, recordAudit } from './audit.ts'
import { systemAuditContext } from './audit_context.ts'
import { verifyAudit } from './verify_audit.ts'

const { url, runtime } = await startTestService()
const { db } = runtime

const context = systemAuditContext(runtime)

const entriesOf = (account_id: string) =>
  db.rows<AuditRow>('select * from audit_entries where account_id = $1 order by position', [
    account_id,
  ])

test('entries of one transaction are chained in order', async () => {
  const { account_id } = await openAccount(url)
  await db.transaction((tx) =>
    recordAudit(tx, account_id, [{ action: 'one' }, { action: 'two', result: 'failure' }], context),
  )
  const [, one, two] = await entriesOf(account_id)
  assert.deepEqual(
    [one?.action, one?.result, two?.action, two?.result],
    ['one', 'success', 'two', 'failure'],
  )
  assert.equal(two?.prev_hash, one?.hash)
})

test('a rollback leaves neither an entry nor a gap', async () => {
  const { account_id } = await openAccount(url)
  const aborted = db.transaction(async (tx) => {
    await recordAudit(tx, account_id, [{ action: 'never' }], context)
    throw new Error('aborted')
  })
  await assert.rejects(aborted, /aborted/)
  await db.transaction((tx) => recordAudit(tx, account_id, [{ action: 'after' }], context))
  const entries = await entriesOf(account_id)
  assert.deepEqual(
    entries.map(({ action }) => action),
    ['account.created', 'after'],
  )
  assert.deepEqual((await verifyAudit(db)).faults, [])
})

test('concurrent entries of one account form one chain, and none fails', async () => {
  const { account_id } = await openAccount(url)
  const before = (await entriesOf(account_id)).length
  await Promise.all(
    Array.from({ length: 12 }, (_, at) =>
      db.transaction((tx) => recordAudit(tx, account_id, [{ action: `entry ${at}` }], context)),
    ),
  )
  assert.equal((await entriesOf(account_id)).length, before + 12)
  assert.deepEqual((await verifyAudit(db)).faults, [])
})

test('the chains of two accounts begin with different hashes', async () => {
  const [one, two] = [await openAccount(url), await openAccount(url)]
  const [first] = await entriesOf(one.account_id)
  const [second] = await entriesOf(two.account_id)
  assert.equal(first?.prev_hash, genesisHash(one.account_id))
  assert.notEqual(first?.prev_hash, second?.prev_hash)
})

test('an empty list locks nothing; a missing sequence row is an error', async () => {
  await db.transaction((tx) => recordAudit(tx, 'acct_nobody', [], context))
  const recording = db.transaction((tx) =>
    recordAudit(tx, 'acct_nobody', [{ action: 'one' }], context),
  )
  await assert.rejects(recording, /has no sequence row/)
})

test('a hash covers every column, and null differs from the text "null"', () => {
  const entry: Omit<AuditRow, 'hash'> = {
    account_id: 'acct_1',
    id: 'aud_1',
    position: 1n,
    action: 'account.created',
    actor_type: 'session',
    actor_id: 'sess_1',
    actor_name: 'name',
    operation: 'create_account',
    result: 'success',
    resource_type: 'account',
    resource_id: 'acct_1',
    ip: '127.0.0.1',
    user_agent: 'agent',
    request_id: 'req_1',
    created_at: new Date(0),
    prev_hash: '00',
  }
  const hashes = new Set([auditHash(entry)])
  for (const name of Object.keys(entry)) {
    const other = { ...entry, [name]: name === 'created_at' ? new Date(1) : 'other' }
    hashes.add(auditHash(name === 'position' ? { ...entry, position: 2n } : other))
  }
  assert.equal(hashes.size, Object.keys(entry).length + 1)
  assert.notEqual(auditHash({ ...entry, ip: null }), auditHash({ ...entry, ip: 'null' }))
})
