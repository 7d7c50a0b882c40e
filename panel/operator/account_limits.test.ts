import assert from 'node:assert/strict'
import { test } from 'node:test'
import '#panel/test_support/browser_globals.ts'
import { refuse, serve } from '#panel/test_support/network.ts'
import { open } from '#panel/test_support/page.ts'
import { sample } from '#panel/test_support/samples.ts'
import { AccountLimits } from './account_limits.tsx'

const account = sample('operator_get_account', {
  email: 'ada@example.com',
  rate_profile: null,
  own_limits: { topup_max_usd: 500, cards_max: 10 },
})
const SHEET = 'Limits for ada@example.com'

test('only changed limits are sent, and an emptied one restores the limit of the program', async (t) => {
  const service = serve(t, { operator_set_account_limits: account })
  const page = await open(t, AccountLimits, { account })
  await page.click('button', SHEET)
  assert.equal(page.valueOf('Maximum top-up'), '500')
  await page.fill('Maximum top-up', '')
  await page.fill('Maximum purchase', '1,000')
  await page.fill('Rate profile', 'conservative')
  await page.click('button', 'Save')
  const [sent] = service.sent('operator_set_account_limits')
  assert.deepEqual(sent, {
    id: account.id,
    rate_profile: 'conservative',
    topup_max_usd: null,
    per_transaction_max_usd: 1000,
  })
  assert(!page.has('dialog'))
})

test('a rate profile that was not changed is not sent, because another operator may have set one', async (t) => {
  const service = serve(t, { operator_set_account_limits: account })
  const conservative = { ...account, rate_profile: 'conservative' as const }
  const page = await open(t, AccountLimits, { account: conservative })
  await page.click('button', SHEET)
  await page.fill('Maximum purchase', '50')
  await page.click('button', 'Save')
  await page.click('button', SHEET)
  await page.fill('Rate profile', '')
  await page.click('button', 'Save')
  assert.deepEqual(service.sent('operator_set_account_limits'), [
    { id: account.id, per_transaction_max_usd: 50 },
    { id: account.id, rate_profile: null },
  ])
})

test('a refused limit is shown at its field and the sheet stays open', async (t) => {
  const refusal = refuse('invalid_request', { topup_max_usd: 'must be at least 10' })
  serve(t, { operator_set_account_limits: refusal })
  const page = await open(t, AccountLimits, { account })
  await page.click('button', SHEET)
  await page.fill('Maximum top-up', '1')
  await page.click('button', 'Save')
  assert.equal(page.errorOf('Maximum top-up'), 'Must be at least 10.')
  assert(page.has('dialog', SHEET))
})

test('a number of cards that is no number is not dropped silently', async (t) => {
  const service = serve(t, {})
  const page = await open(t, AccountLimits, { account })
  await page.click('button', SHEET)
  await page.fill('Maximum cards', 'many')
  await page.click('button', 'Save')
  assert.deepEqual(service.calls, [])
  assert(page.has('dialog', SHEET))
})
