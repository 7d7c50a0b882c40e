import assert from 'node:assert/strict'
import { test } from 'node:test'
import '#panel/test_support/browser_globals.ts'
import { useTestClock } from '#panel/test_support/clock.ts'
import { type Answers, serve } from '#panel/test_support/network.ts'
import { open } from '#panel/test_support/page.ts'
import { page as pageOf, row, sample } from '#panel/test_support/samples.ts'
import { WithdrawalPage } from './withdrawal.tsx'
import { Withdrawals } from './withdrawals.tsx'

const withdrawal = sample('get_withdrawal', {
  status: 'pending',
  status_reason: null,
  amount_usd: 100,
  fee_usd: 1,
  net_usd: 99,
  txid: null,
  broadcasted_at: null,
  completed_at: null,
})
const answers: Answers = { 'GET /oauth/grants': { data: [] }, list_withdrawals: pageOf([]) }

test('the form opens by its address and closes back to the list', async (t) => {
  serve(t, {
    ...answers,
    get_account: sample('get_account'),
    get_balance: sample('get_balance'),
    get_limits: sample('get_limits'),
  })
  const page = await open(t, Withdrawals, {}, { path: '/withdrawals' })
  await page.click('button', 'Withdraw')
  assert.equal(page.path(), '/withdrawals?withdraw')
  await page.click('button', 'Cancel')
  assert.equal(page.path(), '/withdrawals')
})

test('a failed withdrawal shows no fee, and nothing as received', async (t) => {
  const list = pageOf([row('list_withdrawals', { ...withdrawal, status: 'failed' } as never)])
  serve(t, { ...answers, list_withdrawals: list })
  const page = await open(t, Withdrawals, {}, { path: '/withdrawals' })
  assert.doesNotMatch(page.in('table').text(), /\$99\.00|\$1\.00/)
})

test('filters are sent, and a filter without results says so', async (t) => {
  const service = serve(t, answers)
  const page = await open(t, Withdrawals, {}, { path: '/withdrawals' })
  await page.fill('Status', 'failed')
  assert.deepEqual(service.sent('list_withdrawals').at(-1), { status: 'failed' })
  assert.match(page.text(), /No results/)
})

test('withdrawal: the page follows it from request to completion', async (t) => {
  useTestClock(t)
  const service = serve(t, { get_withdrawal: withdrawal })
  const page = await open(t, WithdrawalPage, { id: withdrawal.id })
  const steps = () => page.in('list', 'Timeline').text()
  assert.match(steps(), /Requested.*Sending.*Confirmation/)
  const at = '2026-11-16T09:31:00.000Z'
  const sent = { ...withdrawal, status: 'broadcasted' as const, broadcasted_at: at, txid: 'ab12' }
  service.answer({ get_withdrawal: { ...sent, confirmations: 1 } })
  await page.pass(4_000)
  assert.match(steps(), /Sent.*1 confirmation(?!s)/)
  service.answer({ get_withdrawal: { ...sent, status: 'completed', completed_at: at } })
  await page.pass(4_000)
  assert.match(steps(), /Completed/)
})

test('withdrawal: a sent one that an operator checks is in review, without confirmations', async (t) => {
  const checked = {
    ...withdrawal,
    status: 'broadcasted' as const,
    status_reason: 'transfer_mismatch' as const,
    broadcasted_at: withdrawal.created_at,
    confirmations: 40,
  }
  serve(t, { get_withdrawal: checked })
  const page = await open(t, WithdrawalPage, { id: withdrawal.id })
  assert.match(page.text(), /In review.*checking what arrived/)
  assert.doesNotMatch(page.text(), /confirmations/)
})

test('withdrawal: one in review and a failed one say why, and that the money is back', async (t) => {
  const service = serve(t, { get_withdrawal: { ...withdrawal, status_reason: 'review' } })
  const review = await open(t, WithdrawalPage, { id: withdrawal.id })
  assert.match(review.text(), /In review.*reviewing this withdrawal/)
  const failed = { ...withdrawal, status: 'failed' as const, status_reason: 'screening' as const }
  service.answer({ get_withdrawal: failed })
  const page = await open(t, WithdrawalPage, { id: withdrawal.id })
  assert.match(page.text(), /can’t send to this address\. The full amount is back/)
  assert.match(page.text(), /Transaction hash Not sent(?! yet)/)
})
