import assert from 'node:assert/strict'
import { test } from 'node:test'
import { refusalOf } from '#test/support/calls.ts'
import { send } from '#test/support/http.ts'
import { openAccount } from '#test/support/people.ts'
import { startTestService } from '#test/support/start.ts'
import { awaitedTopup, onChain, topupOf } from '#test/support/topups.ts'

const { url, sandbox } = await startTestService()
const { bearer } = await openAccount(url)

test('answers the top-up as create_topup did, and follows its transfer', async () => {
  const topup = await awaitedTopup(url, bearer)
  assert.deepEqual(await topupOf(url, bearer, topup.id), topup)
  const seen = await onChain({ url, bearer, id: topup.id }, 'deposit', { amount_usd: 25 })
  assert.deepEqual(seen.txids, [seen.txid])
  assert.notEqual(sandbox.node.blockOf(seen.txid ?? ''), null)
})

test("another's top-up is answered like one that does not exist", async () => {
  const { id } = await awaitedTopup(url, bearer)
  const other = (await openAccount(url)).bearer
  const theirs = await send(url, 'GET', `/v1/topups/${id}`, { bearer: other })
  const nobodys = await send(url, 'GET', '/v1/topups/tup_nothing', { bearer: other })
  assert.deepEqual(refusalOf(theirs), refusalOf(nobodys))
  assert.equal(theirs.status, 404)
})
