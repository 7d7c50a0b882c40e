import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createOperatorToken } from '#domain/operators/operator_token.ts'
import { assertRefused, auditLog, mistype } from '#test/support/calls.ts'
import { operate } from '#test/support/operator.ts'
import { openAccount } from '#test/support/people.ts'
import { startTestService } from '#test/support/start.ts'

const { url, runtime, home } = await startTestService()

async function tokenOf(role: 'viewer' | 'support', name: string): Promise<string> {
  const { db, random, keys, clock } = home
  const made = { random, keys, now: clock.now(), livemode: false, days: 90, totp_secret: null }
  return (await createOperatorToken(db, { name, role }, made)).token.open()
}

test('a note shows its author and time, newest first, page by page', async () => {
  const { account_id } = await openAccount(url)
  const path = `/accounts/${account_id}/notes`
  const bearer = await tokenOf('support', 'Ada')
  const added = await operate(url, 'POST', path, {
    bearer,
    body: { body: 'Called about a refund' },
  })
  assert.equal(added.status, 200, added.text)
  await operate(url, 'POST', path, { body: { body: 'Second' } })
  const list = await operate(url, 'GET', `${path}?limit=1`, {
    bearer: await tokenOf('viewer', 'B'),
  })
  assert.deepEqual([list.body['data'][0].body, list.body['has_more']], ['Second', true])
  const next = await operate(url, 'GET', `${path}?limit=1&cursor=${list.body['next_cursor']}`)
  const [{ body, author, created_at }] = next.body['data']
  assert.deepEqual([body, author.name], ['Called about a refund', 'Ada'])
  assert(Math.abs(Date.parse(created_at) - runtime.clock.now().getTime()) < 60_000)
})

test('writing and reading notes is recorded, and the customer’s audit log says nothing', async () => {
  const { account_id, bearer } = await openAccount(url)
  await operate(url, 'POST', `/accounts/${account_id}/notes`, { body: { body: 'Suspicious' } })
  await operate(url, 'GET', `/accounts/${account_id}/notes`)
  const { body } = await operate(url, 'GET', '/actions')
  const own = body['data'].filter((each: { account_id: string }) => each.account_id === account_id)
  assert.deepEqual(
    own.map(({ action }: { action: string }) => action),
    ['operator_list_notes', 'operator_add_note'],
  )
  const entries = JSON.stringify(await auditLog(url, bearer))
  assert(!/note|Suspicious/.test(entries), entries)
})

test('a note needs the role support, a text and an account, and stays as it is', async () => {
  const { account_id } = await openAccount(url)
  const path = `/accounts/${account_id}/notes`
  const bearer = await tokenOf('viewer', 'Reader')
  assert.equal((await operate(url, 'POST', path, { bearer, body: { body: 'x' } })).status, 403)
  for (const blank of ['', ' \n']) {
    const refused = await operate(url, 'POST', path, { body: { body: blank } })
    assertRefused(refused, 400, 'invalid_request')
  }
  const missing = `/accounts/${mistype(account_id)}/notes`
  assertRefused(await operate(url, 'GET', missing), 404, 'not_found')
  await operate(url, 'POST', path, { body: { body: 'kept' } })
  const change = runtime.db.run(`update account_notes set body = 'changed'`)
  await assert.rejects(change)
})
