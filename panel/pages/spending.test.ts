import assert from 'node:assert/strict'
import { test } from 'node:test'
import '#panel/test_support/browser_globals.ts'
import { useTestClock } from '#panel/test_support/clock.ts'
import { type Answers, no_response, serve } from '#panel/test_support/network.ts'
import { open } from '#panel/test_support/page.ts'
import { page as pageOf, row, sample } from '#panel/test_support/samples.ts'
import { SpendingPage } from './spending.tsx'

const [example] = sample('get_spending').data
assert(example !== undefined)
const card = row('list_cards', { name: 'Travel' })

/** One purchase of $20 on the third, in ten groups of each kind. */
const get_spending: Answers['get_spending'] = ({ group_by, from }) => {
  const keys =
    group_by === 'day'
      ? [`${from.slice(0, 8)}03`]
      : group_by === 'card'
        ? [card.id]
        : Array.from({ length: 10 }, (_, at) => (group_by === 'country' ? `A${at}` : `group ${at}`))
  const data = keys.map((key) => ({ ...example, key, label: key, spent_usd: 20, purchases: 1 }))
  return sample('get_spending', { from, group_by, total_usd: 200, refunded_usd: 0, data } as never)
}
const answers: Answers = { get_spending, list_cards: pageOf([card]) }

test('months are turned by buttons, up to the current one, and kept in the address', async (t) => {
  useTestClock(t, '2026-11-16T09:30:00.000Z')
  const service = serve(t, answers)
  const page = await open(t, SpendingPage, {}, { path: '/spending' })
  assert.equal((page.get('button', 'Next month') as HTMLButtonElement).disabled, true)
  await page.click('button', 'Previous month')
  assert.equal(page.path(), '/spending?month=2026-10')
  const asked = service.sent('get_spending').filter(({ group_by }) => group_by === 'merchant')
  assert.deepEqual(asked.at(-1), { from: '2026-10-01', to: '2026-10-31', group_by: 'merchant' })
})

test('a month that someone typed into the address wrongly is the current one', async (t) => {
  useTestClock(t, '2026-11-16T09:30:00.000Z')
  const service = serve(t, answers)
  await open(t, SpendingPage, {}, { path: '/spending?month=2026-13' })
  assert.equal(service.sent('get_spending')[0]?.['from'], '2026-11-01')
})

test('day_bars: a day with purchases is a link to them, in UTC; the others are not', async (t) => {
  useTestClock(t, '2026-11-16T09:30:00.000Z')
  serve(t, answers)
  const page = await open(t, SpendingPage, {}, { path: '/spending' })
  const days = page.in('list', 'Spending per day')
  assert.equal(days.all('listitem').length, 30)
  const link = days.get('link')
  assert.match(link.getAttribute('aria-label') ?? '', /^Nov 3: \$20\.00, 1 purchase/)
  const query = new URLSearchParams(link.getAttribute('href')?.split('?')[1])
  assert.deepEqual(
    [query.get('from'), query.get('to'), query.get('zone')],
    ['2026-11-03', '2026-11-03', 'utc'],
  )
})

test('breakdown: the largest groups are shown, and the rest on request', async (t) => {
  useTestClock(t, '2026-11-16T09:30:00.000Z')
  serve(t, answers)
  const page = await open(t, SpendingPage, {}, { path: '/spending' })
  const section = [...document.querySelectorAll('section')].find((each) =>
    each.textContent?.startsWith('By merchant'),
  )
  const lines = () => section?.querySelectorAll('li a').length
  assert.equal(lines(), 8)
  const more = section?.querySelector('button')
  assert.equal(more?.textContent, 'Show 2 more')
  if (more != null) await page.clickOn(more)
  assert.equal(lines(), 10)
})

test('a chosen card limits every figure, and no purchases say so', async (t) => {
  useTestClock(t, '2026-11-16T09:30:00.000Z')
  const service = serve(t, answers)
  const page = await open(t, SpendingPage, {}, { path: '/spending' })
  const empty = sample('get_spending', { total_usd: 0, data: [] })
  service.answer({ get_spending: empty })
  await page.fill('Card', card.id)
  assert.equal(service.sent('get_spending').at(-1)?.['card_id'], card.id)
  assert.match(page.text(), /No purchases this month/)
})

test('while the month before loads, its sum is not shown as $0.00', async (t) => {
  useTestClock(t, '2026-11-16T09:30:00.000Z')
  const given = get_spending as (input: { group_by: string; from: string }) => never
  serve(t, {
    ...answers,
    get_spending: (input) => (input.from === '2026-10-01' ? no_response : given(input)),
  })
  const page = await open(t, SpendingPage, {}, { path: '/spending' })
  assert.match(page.text(), /October 2026 – Refunded/)
})

test('while another month loads, no amounts of the last one are shown under its name', async (t) => {
  useTestClock(t, '2026-11-16T09:30:00.000Z')
  const service = serve(t, answers)
  const page = await open(t, SpendingPage, {}, { path: '/spending' })
  assert.match(page.text(), /November 2026 Spent \$200\.00/)
  service.answer({ get_spending: no_response })
  await page.click('button', 'Previous month')
  await page.click('button', 'Previous month')
  assert.match(page.text(), /September 2026/)
  assert.doesNotMatch(page.text(), /\$/)
})
