import assert from 'node:assert/strict'
import { test } from 'node:test'
import { refusalOf } from '#test/support/calls.ts'
import { send } from '#test/support/http.ts'
import { fundTreasury } from '#test/support/money.ts'
import { openAccount } from '#test/support/people.ts'
import { startTestService } from '#test/support/start.ts'
import { endOnChain, requested, withdrawalOf } from '#test/support/withdrawals.ts'

const service = await startTestService()
const { url } = service
const person = await openAccount(url)
const account = { url, bearer: person.bearer }
await fundTreasury(service.runtime.db, person.account_id, 100)

test('shows the transfer once it was sent, and how deep it is', async () => {
  const { id } = await requested(account, 20)
  await endOnChain(account, id, 'confirm')
  const { status, txid, confirmations } = await withdrawalOf(account, id)
  assert.equal(status, 'completed')
  assert.match(txid ?? '', /^[0-9a-f]{64}$/)
  assert(confirmations >= 19)
})

test("another's withdrawal is answered like one that does not exist", async () => {
  const { id } = await requested(account, 20)
  const { bearer } = await openAccount(url)
  const theirs = await send(url, 'GET', `/v1/withdrawals/${id}`, { bearer })
  const nobodys = await send(url, 'GET', '/v1/withdrawals/wd_nothing', { bearer })
  assert.deepEqual(refusalOf(theirs), refusalOf(nobodys))
  assert.equal(theirs.status, 404)
})
