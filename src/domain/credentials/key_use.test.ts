import assert from 'node:assert/strict'
import { test } from 'node:test'
import { verifyAudit } from '#domain/audit/verify_audit.ts'
import { advance, auditLog } from '#test/support/calls.ts'
import { send } from '#test/support/http.ts'
import { startTwoNodes } from '#test/support/nodes.ts'
import { createKey, openAccount } from '#test/support/people.ts'

const { first, second } = await startTwoNodes({ FLORIN_TRUSTED_PROXIES: '127.0.0.1' })
const { url, tasks, runtime } = first

const read = (key: string, { at = url, from = '198.51.100.1' } = {}) =>
  send(at, 'GET', '/v1/accounts/me', { bearer: key, headers: { 'x-forwarded-for': from } })

const usesOf = async (bearer: string) => auditLog(url, bearer, '&action=api_key.used')

async function lastUse(bearer: string) {
  const { body } = await send(url, 'GET', '/v1/api_keys', { bearer })
  const [row] = body['data'] as { last_used_at: string | null; last_used_ip: string | null }[]
  return row
}

test('reads with a key are audited once per IP and day', async () => {
  const { bearer } = await openAccount(url)
  const { id, key } = await createKey(url, bearer)
  for (let at = 0; at < 5; at += 1) await read(key)
  const uses = await usesOf(bearer)
  assert.equal(uses.length, 1)
  assert.deepEqual(uses[0]?.actor, { type: 'api_key', id, name: null })
  assert.deepEqual(uses[0]?.resource, { type: 'api_key', id })
  assert.equal(uses[0]?.operation, 'get_account')
  assert.equal(uses[0]?.ip, '198.51.100.1')

  for (let at = 0; at < 3; at += 1) await read(key, { from: '198.51.100.2' })
  assert.deepEqual(
    (await usesOf(bearer)).map(({ ip }) => ip),
    ['198.51.100.1', '198.51.100.2'],
  )
  await advance(url, bearer, 86_400)
  for (let at = 0; at < 3; at += 1) await read(key)
  assert.equal((await usesOf(bearer)).length, 3)
})

test('each key is audited separately', async () => {
  const { bearer } = await openAccount(url)
  const [ada, bob] = [await createKey(url, bearer), await createKey(url, bearer)]
  for (const { key } of [ada, bob, ada, bob]) await read(key)
  assert.deepEqual(
    (await usesOf(bearer)).map(({ actor }) => actor.id),
    [ada.id, bob.id],
  )
})

test('concurrent first uses on two nodes make one entry', async () => {
  const { bearer } = await openAccount(url)
  const { key } = await createKey(url, bearer)
  await Promise.all(
    Array.from({ length: 20 }, (_, at) => read(key, { at: at % 2 === 0 ? url : second.url })),
  )
  assert.equal((await usesOf(bearer)).length, 1)
  assert.deepEqual((await verifyAudit(runtime.db)).faults, [])
})

test('every write with a key is audited as its action and as a use', async () => {
  const { bearer } = await openAccount(url)
  const { id, key } = await createKey(url, bearer)
  await read(key, { from: '127.0.0.1' })
  for (let at = 0; at < 3; at += 1) await createKey(url, key)
  const uses = await usesOf(bearer)
  assert.deepEqual(
    uses.map(({ operation }) => operation),
    ['get_account', 'create_api_key', 'create_api_key', 'create_api_key'],
  )
  const made = await auditLog(url, bearer, `&action=api_key.created&actor_id=${id}`)
  assert.equal(made.length, 3)
})

test('a session and a refused key leave no use', async () => {
  const { bearer } = await openAccount(url)
  const { id, key } = await createKey(url, bearer)
  await send(url, 'DELETE', `/v1/api_keys/${id}`, { bearer })
  assert.equal((await read(key)).status, 401)
  assert.deepEqual(await usesOf(bearer), [])
  assert.equal((await lastUse(bearer))?.last_used_at, null)
})

test('the last use has time and IP, from any node', async () => {
  const { bearer } = await openAccount(url)
  const { key } = await createKey(url, bearer)
  assert.deepEqual([(await lastUse(bearer))?.last_used_ip], [null])
  await read(key)
  const at_first = await lastUse(bearer)
  assert.equal(at_first?.last_used_ip, '198.51.100.1')

  await advance(url, bearer, 10)
  await read(key)
  await read(key, { from: '198.51.100.2' })
  await advance(url, bearer, 10)
  await read(key)
  await tasks.runAll()
  const at_last = await lastUse(bearer)
  assert.equal(at_last?.last_used_ip, '198.51.100.1')
  const moved =
    Date.parse(String(at_last?.last_used_at)) - Date.parse(String(at_first?.last_used_at))
  assert(moved >= 20_000 && moved < 60_000, `${moved} ms`)
})

test('a use that is written late does not replace a later one', async () => {
  const { bearer } = await openAccount(url)
  const { key } = await createKey(url, bearer)
  // The node keeps the second use of a day in memory; the first one from another IP is written.
  await read(key, { at: second.url })
  await read(key, { at: second.url })
  await read(key, { from: '198.51.100.9' })
  const last = await lastUse(bearer)
  await second.tasks.runAll()
  assert.equal((await lastUse(bearer))?.last_used_ip, '198.51.100.9')
  assert.deepEqual(await lastUse(bearer), last)
})
