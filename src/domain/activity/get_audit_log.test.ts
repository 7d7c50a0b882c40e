import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { AuditEntry } from '#contract/activity.ts'
import { genesisHash } from '#domain/audit/audit.ts'
import { assertRefused, auditLog } from '#test/support/calls.ts'
import { manualClock } from '#test/support/clock.ts'
import { send } from '#test/support/http.ts'
import { createKey, openAccount, PASSWORD, type Person } from '#test/support/people.ts'
import { codeOf, turnOnTwoFactor } from '#test/support/second_factor.ts'
import { startTestService } from '#test/support/start.ts'

const clock = manualClock()
const { url } = await startTestService({ dependencies: { clock } })

type AuditedPerson = Person & { key: { id: string; key: string }; session_id: string }

/** Opens an account and makes every kind of call that is audited here. */
async function openAuditedAccount(): Promise<AuditedPerson> {
  const person = await openAccount(url)
  const { bearer, email } = person
  await send(url, 'POST', '/v1/sessions', { body: { email, password: 'not the password' } })
  const signed = await send(url, 'POST', '/v1/sessions', { body: { email, password: PASSWORD } })
  const key = await createKey(url, bearer)
  await send(url, 'GET', '/v1/accounts/me', { bearer: key.key })
  const notifications = { card_frozen: false }
  await send(url, 'PATCH', '/v1/accounts/me', { bearer: key.key, body: { notifications } })
  const spare = await createKey(url, bearer)
  await send(url, 'DELETE', `/v1/api_keys/${spare.id}`, { bearer })
  const { secret } = await turnOnTwoFactor(url, bearer, clock)
  clock.advance(30_000)
  const body = { password: PASSWORD, totp_code: codeOf(secret, clock) }
  await send(url, 'DELETE', '/v1/accounts/me/totp', { bearer, body })
  await send(url, 'DELETE', '/v1/sessions', { bearer: String(signed.body['bearer']) })
  return { ...person, key, session_id: String(signed.body['session_id']) }
}

const person = await openAuditedAccount()
const actionsIn = (entries: readonly AuditEntry[]) => entries.map(({ action }) => action)

test('the log lists every action in order', async () => {
  const entries = await auditLog(url, person.bearer)
  assert.deepEqual(actionsIn(entries), [
    'account.created',
    'session.failed',
    'session.created',
    'api_key.created',
    'api_key.used',
    'account.updated',
    'api_key.used',
    'api_key.created',
    'api_key.revoked',
    'enable_2fa',
    'totp.enabled',
    'totp.disabled',
    'session.ended',
  ])
})

test('an entry has actor, action, result, resource, origin and time', async () => {
  const reply = await send(url, 'PATCH', '/v1/accounts/me', {
    bearer: person.key.key,
    body: { notifications: { topup_expired: false } },
    headers: { 'user-agent': 'florin-test/1.0' },
  })
  const entries = await auditLog(url, person.bearer, '&action=account.updated')
  const last = entries.at(-1)
  assert.deepEqual(Object.keys(last ?? {}), [
    'id',
    'action',
    'actor',
    'operation',
    'result',
    'resource',
    'ip',
    'user_agent',
    'request_id',
    'created_at',
    'prev_hash',
    'hash',
  ])
  assert.match(String(last?.id), /^aud_/)
  assert.deepEqual(last?.actor, { type: 'api_key', id: person.key.id, name: null })
  assert.equal(last?.operation, 'update_account')
  assert.equal(last?.result, 'success')
  assert.deepEqual(last?.resource, { type: 'account', id: person.account_id })
  assert.equal(last?.ip, '127.0.0.1')
  assert.equal(last?.user_agent, 'florin-test/1.0')
  assert.equal(last?.request_id, reply.headers.get('request-id'))
})

test('each entry carries the hash of the previous one; the first, the genesis hash', async () => {
  const entries = await auditLog(url, person.bearer)
  let hash = genesisHash(person.account_id)
  for (const entry of entries) {
    assert.equal(entry.prev_hash, hash)
    assert.match(entry.hash, /^[0-9a-f]{64}$/)
    hash = entry.hash
  }
})

test('filters take one or more values and all must match', async () => {
  const all = await auditLog(url, person.bearer)
  const expectFound = async (query: string, keeps: (entry: AuditEntry) => boolean) => {
    const found = await auditLog(url, person.bearer, query)
    const expected = all.filter(keeps)
    assert(expected.length > 0, query)
    assert.deepEqual(found, expected, query)
  }
  const { key, session_id } = person
  await expectFound('&action=session.failed', ({ action }) => action === 'session.failed')
  await expectFound('&action=totp.enabled,totp.disabled', ({ action }) => /^totp/.test(action))
  await expectFound('&actor_type=api_key', ({ actor }) => actor.type === 'api_key')
  await expectFound('&actor_type=api_key,session', () => true)
  await expectFound(`&actor_id=${key.id}`, ({ actor }) => actor.id === key.id)
  await expectFound(
    `&actor_id=${key.id},${session_id}`,
    ({ actor }) => actor.id === key.id || actor.id === session_id,
  )
  await expectFound('&result=failure', ({ result }) => result === 'failure')
  await expectFound('&operation=enable_2fa', ({ operation }) => operation === 'enable_2fa')
  await expectFound(
    '&operation=update_account&action=api_key.used',
    ({ operation, action }) => operation === 'update_account' && action === 'api_key.used',
  )
  const third = all[2]?.created_at ?? ''
  await expectFound(`&created_gte=${third}`, ({ created_at }) => created_at >= third)
  await expectFound(`&created_lt=${third}`, ({ created_at }) => created_at < third)
  assert.deepEqual(await auditLog(url, person.bearer, '&action=nothing.like.it'), [])
})

test('malformed filters and unknown parameters are refused', async () => {
  const { bearer } = person
  const wrong = ['actor_type=robot', 'result=ok', 'action=', 'action=a,,b', 'actor_id=a b']
  for (const query of wrong) {
    const reply = await send(url, 'GET', `/v1/audit_log?${query}`, { bearer })
    assertRefused(reply, 400, 'invalid_request')
  }
  const unknown = await send(url, 'GET', '/v1/audit_log?ip=127.0.0.1', { bearer })
  assertRefused(unknown, 400, 'unknown_parameter')
})

test('pages run newest first, and reading them adds no entries', async () => {
  const { bearer } = person
  const all = await auditLog(url, bearer)
  const walked: AuditEntry[] = []
  let query = '?limit=4'
  for (;;) {
    const { body } = await send(url, 'GET', `/v1/audit_log${query}`, { bearer })
    walked.push(...(body['data'] as AuditEntry[]))
    if (body['next_cursor'] === null) break
    query = `?limit=4&cursor=${body['next_cursor']}`
  }
  assert.deepEqual(walked, all.toReversed())
})

test('a session and a key read the log of their own account only', async () => {
  const stranger = await openAccount(url)
  assert.deepEqual(actionsIn(await auditLog(url, stranger.bearer)), ['account.created'])
  const by_key = await auditLog(url, person.key.key)
  assert.deepEqual(by_key, await auditLog(url, person.bearer))
})

test('a refused change leaves no entry', async () => {
  const { bearer } = await openAccount(url)
  await send(url, 'DELETE', '/v1/api_keys/key_01kc3z8e5xf8m9r4t2v6w7y8za', { bearer })
  await send(url, 'PATCH', '/v1/accounts/me', { bearer, body: { email: 'x@example.com' } })
  await send(url, 'POST', '/v1/api_keys', { bearer, body: { name: '' } })
  assert.deepEqual(actionsIn(await auditLog(url, bearer)), ['account.created'])
})
