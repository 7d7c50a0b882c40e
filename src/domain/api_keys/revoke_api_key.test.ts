import assert from 'node:assert/strict'
import { test } from 'node:test'
import { assertRefused, auditLog, refusalOf } from '#test/support/calls.ts'
import { eventually } from '#test/support/eventually.ts'
import { type Reply, send } from '#test/support/http.ts'
import { startTwoNodes } from '#test/support/nodes.ts'
import { createKey, openAccount } from '#test/support/people.ts'

const { first, second } = await startTwoNodes()
const { url } = first

const revoke = (bearer: string, id: string): Promise<Reply> =>
  send(url, 'DELETE', `/v1/api_keys/${id}`, { bearer })
const getAccount = (bearer: string, at = url): Promise<Reply> =>
  send(at, 'GET', '/v1/accounts/me', { bearer })

test('a revoked key stops working immediately; other keys keep working', async () => {
  const { bearer } = await openAccount(url)
  const [dead, alive] = [await createKey(url, bearer), await createKey(url, bearer)]
  assert.equal((await getAccount(dead.key)).status, 200)
  const reply = await revoke(bearer, dead.id)
  assert.equal(reply.status, 204)
  assert.equal(reply.text, '')
  assertRefused(await getAccount(dead.key), 401, 'token_revoked')
  assert.equal((await getAccount(alive.key)).status, 200)
})

test('revoking a key twice is refused', async () => {
  const { bearer } = await openAccount(url)
  const { id } = await createKey(url, bearer)
  await revoke(bearer, id)
  const listed = async () => (await send(url, 'GET', '/v1/api_keys', { bearer })).text
  const before = await listed()
  assertRefused(await revoke(bearer, id), 409, 'key_revoked')
  assert.equal(await listed(), before)
})

test('one of several concurrent calls revokes the key', async () => {
  const { bearer } = await openAccount(url)
  const { id } = await createKey(url, bearer)
  const replies = await Promise.all(Array.from({ length: 8 }, () => revoke(bearer, id)))
  assert.equal(replies.filter(({ status }) => status === 204).length, 1)
  for (const reply of replies.filter(({ status }) => status !== 204)) {
    assertRefused(reply, 409, 'key_revoked')
  }
})

test('a key of another account is not found, exactly like a missing one', async () => {
  const ada = await openAccount(url)
  const bob = await openAccount(url)
  const theirs = await createKey(url, ada.bearer)
  const foreign = await revoke(bob.bearer, theirs.id)
  assertRefused(foreign, 404, 'not_found')
  const missing_ids = [
    'key_01kc3z8e5xf8m9r4t2v6w7y8za',
    'nonsense',
    'acct_1',
    '%00',
    '%F0%9F%92%A9',
  ]
  for (const id of missing_ids) {
    const missing = await revoke(bob.bearer, id)
    if (id === '%00') assertRefused(missing, 404, 'not_found')
    else assert.deepEqual(refusalOf(missing), refusalOf(foreign))
  }
  await revoke(ada.bearer, theirs.id)
  assert.deepEqual(refusalOf(await revoke(bob.bearer, theirs.id)), refusalOf(foreign))
})

test('a key can revoke itself', async () => {
  const { bearer } = await openAccount(url)
  const { id, key } = await createKey(url, bearer)
  assert.equal((await revoke(key, id)).status, 204)
  assertRefused(await getAccount(key), 401, 'token_revoked')
})

test('the audit log names the revoked key and the actor', async () => {
  const { bearer } = await openAccount(url)
  const { id } = await createKey(url, bearer)
  await revoke(bearer, id)
  const [entry, ...others] = await auditLog(url, bearer, '&action=api_key.revoked')
  assert.deepEqual(others, [])
  assert.equal(entry?.operation, 'revoke_api_key')
  assert.equal(entry?.actor.type, 'session')
  assert.deepEqual(entry?.resource, { type: 'api_key', id })
})

const isRefusedElsewhere = (key: string) =>
  eventually(async () => (await getAccount(key, second.url)).status === 401, { within_ms: 1_000 })

test('another node refuses a revoked key within a second', async () => {
  const { bearer } = await openAccount(url)
  const { id, key } = await createKey(url, bearer)
  assert.equal((await getAccount(key, second.url)).status, 200)
  await revoke(bearer, id)
  assert(await isRefusedElsewhere(key))
  assertRefused(await getAccount(key, second.url), 401, 'token_revoked')
})

test('another node refuses it within a second even if the notification is lost', async () => {
  const { bearer } = await openAccount(url)
  const { id, key } = await createKey(url, bearer)
  assert.equal((await getAccount(key, second.url)).status, 200)
  const cut = await first.owner_db.rows<{ cut: boolean }>(
    `select pg_terminate_backend(pid) as cut from pg_stat_activity
      where datname = current_database() and query ilike 'listen %'`,
  )
  assert(cut.length >= 2, 'both nodes were listening')
  await revoke(bearer, id)
  assert(await isRefusedElsewhere(key))
})

test('a node listens again after its connection was cut', async () => {
  const isListening = async () => {
    const rows = await first.owner_db.rows(
      `select 1 from pg_stat_activity
        where datname = current_database() and query ilike 'listen %florin_credentials%'`,
    )
    return rows.length === 2
  }
  assert(await eventually(isListening, { within_ms: 20_000 }))
})
