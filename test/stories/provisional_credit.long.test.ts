import assert from 'node:assert/strict'
import { test } from 'node:test'
import { readSettings } from '#settings/settings.ts'
import { advance, assertRefused } from '#test/support/calls.ts'
import { type Buyer, fileDispute, openBuyer } from '#test/support/disputes.ts'
import { fundTreasury } from '#test/support/money.ts'
import { operate } from '#test/support/operator.ts'
import { follow } from '#test/support/spending.ts'
import { startTestService } from '#test/support/start.ts'
import { askToWithdraw, requested } from '#test/support/withdrawals.ts'

const FLORIN_RISK = JSON.stringify({ provisional_credit_days: 30 })
const service = await startTestService({ env: { FLORIN_RISK } })
const { url, runtime } = service

async function assertRefusesAbove({ key }: Buyer, usd: number, credit: string): Promise<void> {
  const refused = await askToWithdraw({ url, bearer: key }, { amount_usd: usd + 0.01 })
  assertRefused(refused, 409, 'insufficient_balance')
  assert.match(refused.body['message'], new RegExp(`^\\$${credit} of your balance is provisional`))
  await requested({ url, bearer: key }, usd)
}

test('a provisional dispute credit cannot be withdrawn while the dispute is open', async () => {
  const buyer = await openBuyer(service, 40)
  await fundTreasury(runtime.db, buyer.account_id, 50)
  await fileDispute(url, buyer)
  await assertRefusesAbove(buyer, 50, '40.00')
})

test('concurrent withdrawals cannot include the credit', async () => {
  const buyer = await openBuyer(service, 40)
  await fundTreasury(runtime.db, buyer.account_id, 20)
  await fileDispute(url, buyer)
  const replies = await Promise.all(
    [1, 2, 3, 4].map(() => askToWithdraw({ url, bearer: buyer.key }, { amount_usd: 20 })),
  )
  assert.deepEqual(replies.map(({ status }) => status).sort(), [201, 409, 409, 409])
})

test('the part of a credit that a refund took back no longer counts', async () => {
  const buyer = await openBuyer(service, 40)
  await fundTreasury(runtime.db, buyer.account_id, 50)
  await fileDispute(url, buyer)
  await follow(url, buyer, { id: buyer.capture.id, verb: 'refund', amount: 30 })
  await assertRefusesAbove(buyer, 50, '10.00')
})

test('the credit can be withdrawn once the dispute is won', async () => {
  const buyer = await openBuyer(service, 40)
  const { id } = await fileDispute(url, buyer)
  const refused = await askToWithdraw({ url, bearer: buyer.key }, { amount_usd: 40 })
  assertRefused(refused, 409, 'insufficient_balance')
  await operate(url, 'POST', `/disputes/${id}/close`, { body: { outcome: 'won' } })
  await requested({ url, bearer: buyer.key }, 40)
})

test('the credit can be withdrawn once the dispute is 30 days old', async () => {
  const buyer = await openBuyer(service, 40)
  await fileDispute(url, buyer)
  await advance(url, buyer.key, 29.9 * 86_400)
  const refused = await askToWithdraw({ url, bearer: buyer.key }, { amount_usd: 40 })
  assertRefused(refused, 409, 'insufficient_balance')
  await advance(url, buyer.key, 0.2 * 86_400)
  await requested({ url, bearer: buyer.key }, 40)
})

test('live mode holds provisional credits for 30 days, the sandbox only if configured', () => {
  const live = { FLORIN_MODE: 'live', FLORIN_PUBLIC_URL: 'https://cards.example' }
  assert.equal(readSettings(live).risk.provisional_credit_days, 30)
  assert.equal(readSettings({}).risk.provisional_credit_days, 0)
  assert.throws(
    () => readSettings({ FLORIN_RISK: '{"provisional_credit_days": "long"}' }),
    /provisional_credit_days/,
  )
})
