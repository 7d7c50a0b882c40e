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

test('shows the txid and confirmations of a sent withdrawal', async () => {
  const { id } = await requested(account, 20)
  await endOnChain(account, id, 'confirm')
  // Confirmations count up to the newest block that the watcher has read.
  await service.tasks.run(['watch_deposits'])
  const { status, txid, confirmations } = await withdrawalOf(account, id)
  assert.equal(status, 'completed')
  assert.match(txid ?? '', /^[0-9a-f]{64}$/)
  assert(confirmations >= 19)
})

test("another account's withdrawal gets the same 404 as an unknown ID", async () => {
  const { id } = await requested(account, 20)
  const { bearer } = await openAccount(url)
  const foreign = await send(url, 'GET', `/v1/withdrawals/${id}`, { bearer })
  const unknown = await send(url, 'GET', '/v1/withdrawals/wd_nothing', { bearer })
  assert.deepEqual(refusalOf(foreign), refusalOf(unknown))
  assert.equal(foreign.status, 404)
})
