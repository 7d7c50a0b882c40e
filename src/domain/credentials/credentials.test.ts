import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Database } from '#platform/postgres/db.ts'
import { assertRefused } from '#test/support/calls.ts'
import { manualClock } from '#test/support/clock.ts'
import { eventually } from '#test/support/eventually.ts'
import { send } from '#test/support/http.ts'
import { startTwoNodes } from '#test/support/nodes.ts'
import { createKey, openAccount, PASSWORD } from '#test/support/people.ts'
import { newBearer } from './bearer.ts'
import { makeCredentials } from './credentials.ts'

const { first, second } = await startTwoNodes()
const { url } = first
const { db, keys, random, settings } = first.runtime

/** Credentials of a separate node that count their queries. */
function makeCountingCredentials() {
  const clock = manualClock()
  const queries = { count: 0 }
  const counting: Database = {
    ...db,
    rows: (sql, params) => {
      queries.count += 1
      return db.rows(sql, params)
    },
  }
  return { clock, queries, credentials: makeCredentials({ db: counting, keys, clock, settings }) }
}

test('a session and a key have every scope and all cards', async () => {
  const person = await openAccount(url)
  const { id, key } = await createKey(url, person.bearer)
  const { credentials } = makeCountingCredentials()
  const by_session = await credentials.callerOf(person.bearer)
  assert.equal(by_session.kind, 'session')
  assert.match(by_session.id, /^sess_/)
  const by_key = await credentials.callerOf(key)
  assert.deepEqual([by_key.kind, by_key.id, by_key.card_ids], ['api_key', id, null])
  for (const caller of [by_session, by_key]) {
    assert.equal(caller.account_id, person.account_id)
    assert.equal(caller.scopes.size, 14)
  }
})

test('a mistyped bearer is refused without a query', async () => {
  const { bearer } = await openAccount(url)
  const { credentials, queries } = makeCountingCredentials()
  for (const wrong of ['', 'x', `${bearer}x`, bearer.slice(0, -1), bearer.replace('fls', 'flk')]) {
    await assert.rejects(credentials.callerOf(wrong), { code: 'invalid_token' })
  }
  assert.equal(queries.count, 0)
  const unknown = newBearer('api_key', { random, keys, livemode: false, cell: 0 }).text.open()
  await assert.rejects(credentials.callerOf(unknown), { code: 'invalid_token' })
  assert.equal(queries.count, 1)
})

test('a busy bearer costs two queries a second, not one per call', async () => {
  const { bearer } = await openAccount(url)
  const { credentials, queries, clock } = makeCountingCredentials()
  await Promise.all(Array.from({ length: 100 }, () => credentials.callerOf(bearer)))
  clock.advance(499)
  await credentials.callerOf(bearer)
  assert.equal(queries.count, 1)
  clock.advance(1)
  await credentials.callerOf(bearer)
  assert.equal(queries.count, 2)
})

test('a forgotten bearer is queried again, even if a query was running', async () => {
  const { bearer, account_id } = await openAccount(url)
  const { credentials, queries } = makeCountingCredentials()
  await credentials.callerOf(bearer)
  credentials.forget('acct_somebody_else')
  await credentials.callerOf(bearer)
  assert.equal(queries.count, 1)
  credentials.forget(account_id)
  const pending = credentials.callerOf(bearer)
  credentials.forget(account_id)
  await pending
  await credentials.callerOf(bearer)
  assert.equal(queries.count, 3)
})

test('recall returns a remembered caller for half a second or until it is forgotten', async () => {
  const { bearer, account_id } = await openAccount(url)
  const { credentials, queries, clock } = makeCountingCredentials()
  assert.equal(credentials.recall(bearer), null)
  const caller = await credentials.callerOf(bearer)
  assert.deepEqual(credentials.recall(bearer), caller)
  clock.advance(499)
  assert.deepEqual(credentials.recall(bearer), caller)
  clock.advance(1)
  assert.equal(credentials.recall(bearer), null)
  await credentials.callerOf(bearer)
  credentials.forget(account_id)
  assert.equal(credentials.recall(bearer), null)
  assert.equal(queries.count, 2)
})

test('a failed query is not remembered', async () => {
  const { bearer } = await openAccount(url)
  let isDown = true
  const failing: Database = {
    ...db,
    rows: (sql, params) =>
      isDown ? Promise.reject(new Error('connection lost')) : db.rows(sql, params),
  }
  const credentials = makeCredentials({ db: failing, keys, clock: manualClock(), settings })
  await assert.rejects(credentials.callerOf(bearer), /connection lost/)
  isDown = false
  assert.equal((await credentials.callerOf(bearer)).kind, 'session')
})

const statusAt = async (node: string, bearer: string) =>
  (await send(node, 'GET', '/v1/accounts/me', { bearer })).status

test('a bearer from one node works immediately on another', async () => {
  const person = await openAccount(url)
  assert.equal(await statusAt(second.url, person.bearer), 200)
  const { key } = await createKey(second.url, person.bearer)
  assert.equal(await statusAt(url, key), 200)
})

test('a password change ends the other sessions on every node within a second', async () => {
  const person = await openAccount(url)
  const body = { email: person.email, password: PASSWORD }
  const other = String((await send(url, 'POST', '/v1/sessions', { body })).body['bearer'])
  assert.equal(await statusAt(second.url, other), 200)
  const change = { password: 'quite another password', current_password: PASSWORD }
  await send(url, 'PATCH', '/v1/accounts/me', { bearer: person.bearer, body: change })
  const isEnded = async () => (await statusAt(second.url, other)) === 401
  assert(await eventually(isEnded, { within_ms: 1_000 }))
  assert.equal(await statusAt(second.url, person.bearer), 200)
})

test('a bearer that is revoked during many calls is never accepted afterwards', async () => {
  const person = await openAccount(url)
  for (let round = 0; round < 5; round += 1) {
    const { id, key } = await createKey(url, person.bearer)
    const calls = Array.from({ length: 20 }, () => statusAt(url, key))
    const revoked = await send(url, 'DELETE', `/v1/api_keys/${id}`, { bearer: person.bearer })
    assert.equal(revoked.status, 204)
    const later = await Promise.all(Array.from({ length: 20 }, () => statusAt(url, key)))
    assert.deepEqual(new Set(later), new Set([401]))
    await Promise.all(calls)
    const reply = await send(url, 'GET', '/v1/accounts/me', { bearer: key })
    assertRefused(reply, 401, 'token_revoked')
  }
})
