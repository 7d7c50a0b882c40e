import assert from 'node:assert/strict'
import { test } from 'node:test'
import '#panel/test_support/browser_globals.ts'
import { useTestClock } from '#panel/test_support/clock.ts'
import { type Answers, refuse, serve } from '#panel/test_support/network.ts'
import { open } from '#panel/test_support/page.ts'
import { page as pageOf, row, sample } from '#panel/test_support/samples.ts'
import { TopupPage } from './topup.tsx'
import { Topups } from './topups.tsx'

const topup = sample('get_topup', {
  status: 'awaiting',
  status_reason: null,
  amount_usd: 100,
  confirmations: 0,
})
const answers: Answers = {
  list_topups: pageOf([]),
  get_limits: sample('get_limits', { spend_limits: { topup_min_usd: 10, topup_max_usd: 5000 } }),
  'GET /oauth/grants': { data: [] },
}

test('topups: a suggested or typed amount creates a top-up and opens its page', async (t) => {
  const service = serve(t, { ...answers, create_topup: sample('create_topup') })
  const page = await open(t, Topups, {}, { path: '/topups' })
  assert.match(page.text(), /\$10\.00 to \$5,000\.00/)
  await page.click('button', '$250')
  assert.equal(page.valueOf('Amount'), '250')
  await page.click('button', 'Get deposit address')
  assert.deepEqual(service.sent('create_topup'), [{ amount_usd: 250 }])
  assert.equal(page.path(), `/topups/${sample('create_topup').id}`)
})

test('topups: a refused amount is shown at its field', async (t) => {
  const create_topup = refuse('amount_out_of_range', { amount_usd: 'must be at least 10' })
  serve(t, { ...answers, create_topup })
  const page = await open(t, Topups, {}, { path: '/topups' })
  await page.fill('Amount', '1')
  await page.click('button', 'Get deposit address')
  assert.equal(page.errorOf('Amount'), 'Must be at least 10.')
})

test('topups: the history is filtered, and says when a filter has no results', async (t) => {
  const service = serve(t, answers)
  const page = await open(t, Topups, {}, { path: '/topups' })
  assert.match(page.text(), /No top-ups yet/)
  await page.fill('Status', 'completed')
  assert.deepEqual(service.sent('list_topups').at(-1), { status: 'completed' })
  assert.match(page.text(), /No results/)
})

test('topup_status: money that waits for us is on hold, a smaller transfer partly paid, and nobody canceled an expired one', async (t) => {
  const example = row('list_topups')
  const rows = [
    { status: 'error' as const, status_reason: 'screening' as const, payment_state: null },
    { status: 'error' as const, status_reason: 'expired' as const, payment_state: null },
    { status: 'completed' as const, status_reason: null, payment_state: 'partial' as const },
    { status: 'cancelled' as const, status_reason: 'expired' as const, payment_state: null },
    {
      status: 'cancelled' as const,
      status_reason: 'cancelled_by_user' as const,
      payment_state: null,
    },
  ].map((each, at) => ({
    ...example,
    ...each,
    payment_state: each.payment_state ?? example.payment_state,
    id: example.id.replace(/.$/, String(at)),
  }))
  serve(t, { ...answers, list_topups: pageOf(rows as never) })
  const page = await open(t, Topups, {}, { path: '/topups' })
  const statuses = page.all('row').map((line) => line.children[1]?.textContent)
  assert.deepEqual(statuses.slice(1), ['On hold', 'Failed', 'Partly paid', 'Expired', 'Canceled'])
})

test('topup, deposit_address: the address, the amount and the time left are shown', async (t) => {
  useTestClock(t, '2026-11-16T09:30:00.000Z')
  const expires_at = '2026-11-16T10:00:00.000Z'
  serve(t, { get_topup: { ...topup, expires_at } })
  const page = await open(t, TopupPage, { id: topup.id })
  assert(page.text().includes(topup.deposit_address))
  assert.match(page.get('timer').textContent ?? '', /^(?:30:00|29:5\d)$/)
  assert(page.has('button', 'Copy address') && page.has('button', 'Copy amount'))
})

test('topup, progress: the page follows the confirmations by itself', async (t) => {
  useTestClock(t)
  const confirming = { ...topup, status: 'confirming' as const, required_confirmations: 19 }
  const service = serve(t, { get_topup: { ...confirming, confirmations: 3 } })
  const page = await open(t, TopupPage, { id: topup.id })
  assert.equal(page.get('meter', 'Confirmations').getAttribute('aria-valuetext'), '3/19')
  service.answer({ get_topup: { ...confirming, confirmations: 12 } })
  await page.pass(4_000)
  assert.equal(page.get('meter', 'Confirmations').getAttribute('aria-valuetext'), '12/19')
})

test('topup: canceling asks first; a refusal stays in the dialog', async (t) => {
  const service = serve(t, {
    get_topup: topup,
    cancel_topup: refuse('topup_not_cancellable', 'A transfer has arrived.'),
  })
  const page = await open(t, TopupPage, { id: topup.id })
  await page.click('button', 'Cancel top-up')
  await page.click('button', 'Keep top-up')
  assert.deepEqual(service.sent('cancel_topup'), [])
  await page.click('button', 'Cancel top-up')
  await page.clickOn(page.in('dialog').get('button', 'Cancel top-up'))
  assert.match(page.in('dialog').get('alert').textContent ?? '', /has arrived/)
})

test('topup: a completed one can be spent and no longer canceled', async (t) => {
  serve(t, {
    get_topup: { ...topup, status: 'completed', payment_state: 'exact' as never } as never,
  })
  const page = await open(t, TopupPage, { id: topup.id })
  assert(!page.has('button', 'Cancel top-up'))
  assert(page.has('link', 'Issue card'))
})
