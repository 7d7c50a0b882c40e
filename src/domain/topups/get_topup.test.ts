import assert from 'node:assert/strict'
import { test } from 'node:test'
import { refusalOf } from '#test/support/calls.ts'
import { send } from '#test/support/http.ts'
import { openAccount } from '#test/support/people.ts'
import { startTestService } from '#test/support/start.ts'
import { awaitedTopup, onChain, topupOf } from '#test/support/topups.ts'

const { url, sandbox } = await startTestService()
const { bearer } = await openAccount(url)

test('returns the same top-up as create_topup and lists its transfers', async () => {
  const topup = await awaitedTopup(url, bearer)
  assert.deepEqual(await topupOf(url, bearer, topup.id), topup)
  const seen = await onChain({ url, bearer, id: topup.id }, 'deposit', { amount_usd: 25 })
  assert.deepEqual(seen.txids, [seen.txid])
  assert.notEqual(sandbox.node.blockOf(seen.txid ?? ''), null)
})

test("another account's top-up gets the same 404 as an unknown ID", async () => {
  const { id } = await awaitedTopup(url, bearer)
  const other = (await openAccount(url)).bearer
  const foreign = await send(url, 'GET', `/v1/topups/${id}`, { bearer: other })
  const unknown = await send(url, 'GET', '/v1/topups/tup_nothing', { bearer: other })
  assert.deepEqual(refusalOf(foreign), refusalOf(unknown))
  assert.equal(foreign.status, 404)
})
