import assert from 'node:assert/strict'
import { test } from 'node:test'
import { openAccount } from '#test/support/people.ts'
import { startTestService } from '#test/support/start.ts'
import { type AuditContext, type AuditRow, auditHash, recordAudit } from './audit.ts'
import { verifyAudit } from './verify_audit.ts'

const { url, runtime } = await startTestService()
const { db, clock, newId } = runtime

const facts: AuditContext = {
  actor_type: 'system',
  actor_id: null,
  actor_name: null,
  operation: null,
  ip: null,
  user_agent: null,
  request_id: null,
  stamp: () => {
    const created_at = clock.now()
    return { id: newId('aud', created_at), created_at }
  },
}

const entriesOf = (account_id: string) =>
  db.rows<AuditRow>('select * from audit_entries where account_id = $1 order by position', [
    account_id,
  ])

test('several entries of one transaction follow each other', async () => {
  const { account_id } = await openAccount(url)
  await db.transaction((tx) =>
    recordAudit(tx, account_id, [{ action: 'one' }, { action: 'two', result: 'failure' }], facts),
  )
  const [, one, two] = await entriesOf(account_id)
  assert.deepEqual(
    [one?.action, one?.result, two?.action, two?.result],
    ['one', 'success', 'two', 'failure'],
  )
  assert.equal(two?.prev_hash, one?.hash)
})

test('what is rolled back leaves neither entry nor gap', async () => {
  const { account_id } = await openAccount(url)
  const given_up = db.transaction(async (tx) => {
    await recordAudit(tx, account_id, [{ action: 'never' }], facts)
    throw new Error('given up')
  })
  await assert.rejects(given_up, /given up/)
  await db.transaction((tx) => recordAudit(tx, account_id, [{ action: 'after' }], facts))
  const entries = await entriesOf(account_id)
  assert.deepEqual(
    entries.map(({ action }) => action),
    ['account.created', 'after'],
  )
  assert.deepEqual((await verifyAudit(db)).faults, [])
})

test('nothing to record touches nothing; an account without a head is our own fault', async () => {
  await db.transaction((tx) => recordAudit(tx, 'acct_nobody', [], facts))
  const recording = db.transaction((tx) =>
    recordAudit(tx, 'acct_nobody', [{ action: 'one' }], facts),
  )
  await assert.rejects(recording, /has no head row/)
})

test('a hash covers every part of an entry, and tells none from missing', () => {
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
