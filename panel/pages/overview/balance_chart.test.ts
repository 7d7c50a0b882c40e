import assert from 'node:assert/strict'
import { test } from 'node:test'
import '#panel/test_support/browser_globals.ts'
import { useTestClock } from '#panel/test_support/clock.ts'
import { refuse, serve } from '#panel/test_support/network.ts'
import { open } from '#panel/test_support/page.ts'
import { page as pageOf, row, sample } from '#panel/test_support/samples.ts'
import { BalanceChart } from './balance_chart.tsx'

const change = row('get_balance_history', { balance_usd: 120.5 } as never)

test('the range is chosen by buttons, and the chart says which one it shows', async (t) => {
  useTestClock(t)
  const service = serve(t, {
    get_balance: sample('get_balance', { balance_usd: 120.5 }),
    get_balance_history: pageOf([change]),
  })
  const page = await open(t, BalanceChart, {})
  assert(page.has('img', /last 30 days, currently \$120\.50/))
  const asked = service.sent('get_balance_history').length
  await page.click('button', '7 days')
  assert(page.has('img', /last 7 days/))
  assert.equal(page.get('button', '7 days').getAttribute('aria-pressed'), 'true')
  assert.equal(page.get('button', '30 days').getAttribute('aria-pressed'), 'false')
  assert(service.sent('get_balance_history').length >= asked)
})

test('a history that cannot be loaded is an error with a way to try again', async (t) => {
  const service = serve(t, { get_balance_history: refuse('account_suspended', 'Suspended.') })
  const page = await open(t, BalanceChart, {})
  assert.match(page.get('alert').textContent ?? '', /Suspended\./)
  service.answer({ get_balance_history: pageOf([change]) })
  await page.click('button', 'Try again')
  assert(page.has('img', /last 30 days/))
})
