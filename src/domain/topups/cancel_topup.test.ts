import assert from 'node:assert/strict'
import { test } from 'node:test'
import { assertRefused, auditLog } from '#test/support/calls.ts'
import { send } from '#test/support/http.ts'
import { openAccount } from '#test/support/people.ts'
import { startTestService } from '#test/support/start.ts'
import { awaitedTopup, onChain } from '#test/support/topups.ts'

const { url } = await startTestService()
const { bearer } = await openAccount(url)
const cancel = (id: string, as = bearer) =>
  send(url, 'POST', `/v1/topups/${id}/cancel`, { bearer: as, body: {} })

test('cancels an awaiting top-up once and writes an audit entry', async () => {
  const { id } = await awaitedTopup(url, bearer)
  const { status, body } = await cancel(id)
  assert.equal(status, 200)
  assert.deepEqual(
    [body['status'], body['status_reason'], body['qr_data_uri'], body['version']],
    ['cancelled', 'cancelled_by_user', null, 2],
  )
  const [entry] = await auditLog(url, bearer, '&action=cancel_topup')
  assert.deepEqual(entry?.resource, { type: 'topup', id })
  const again = await cancel(id)
  assertRefused(again, 409, 'topup_not_cancellable')
  assert.match(String(again.body['message']), /because it is already canceled\.$/)
})

test('refuses a top-up that is confirming, completed or expired', async () => {
  const { id } = await awaitedTopup(url, bearer)
  const at = { url, bearer, id }
  await onChain(at, 'deposit', { amount_usd: 25 })
  assertRefused(await cancel(id), 409, 'topup_not_cancellable')
  await onChain(at, 'confirm')
  assertRefused(await cancel(id), 409, 'topup_not_cancellable')
  const idle = await awaitedTopup(url, bearer)
  await onChain({ ...at, id: idle.id }, 'expire')
  const expired = await cancel(idle.id)
  assertRefused(expired, 409, 'topup_not_cancellable')
  assert.match(String(expired.body['message']), /because it has expired\.$/)
})

test("returns 404 for another account's top-up", async () => {
  const { id } = await awaitedTopup(url, bearer)
  assertRefused(await cancel(id, (await openAccount(url)).bearer), 404, 'not_found')
})
