import assert from 'node:assert/strict'
import { test } from 'node:test'
import '#panel/test_support/browser_globals.ts'
import { createElement } from 'react'
import { FlorinError } from '#client/client.ts'
import { useTestClock } from '#panel/test_support/clock.ts'
import { open, openElement } from '#panel/test_support/page.ts'
import { sample } from '#panel/test_support/samples.ts'
import { BackLink } from './back_link.tsx'
import { CardFace, cardLabel } from './card_face.tsx'
import { amount_column, createdColumn } from './columns.tsx'
import { DottedName } from './dotted_name.tsx'
import { EmailAddress } from './email_address.tsx'
import { Check } from './icons.ts'
import { lucide } from './lucide.tsx'
import { Meter } from './meter.tsx'
import { QrCode } from './qr_code.tsx'
import { QueryBoundary } from './query_boundary.tsx'
import { DescriptionList, PageHeader } from './section.tsx'
import { Sparkline } from './sparkline.tsx'
import { Countdown, Time } from './time.tsx'
import { Timeline } from './timeline.tsx'
import { Toasts, toast } from './toast.tsx'

test('back_link: it leads back to the list', async (t) => {
  const page = await open(t, BackLink, { href: '/cards', children: 'Cards' }, { path: '/cards/1' })
  await page.click('link', 'Cards')
  assert.equal(page.path(), '/cards')
})

test('card_face: the number is hidden but for its end, and a frozen card says so', async (t) => {
  const card = sample('get_card', { last4: '4242', status: 'frozen', exp_month: 3, exp_year: 2029 })
  const page = await open(t, CardFace, { card })
  assert.match(page.text(), /Card number ending in 4242 03\/29 Frozen/)
  assert.equal(cardLabel({ name: null, last4: '4242' }), 'Card 4242')
  assert.equal(cardLabel({ name: 'Travel', last4: '4242' }), 'Travel ·· 4242')
})

test('columns: an amount that is not known is empty, not zero', async (t) => {
  const cell = (usd: number | null) =>
    createElement('p', {}, amount_column.cell({ amount_usd: usd }))
  const page = await openElement(t, cell(null))
  assert.equal(page.text(), '')
  await page.render(cell(5))
  assert.equal(page.text(), '$5.00')
  assert.equal(createdColumn('Filed').title, 'Filed')
})

test('dotted_name, email_address: they can wrap, and are still copied as one word', async (t) => {
  const name = createElement(DottedName, { of: 'withdrawal.broadcasted' })
  const page = await openElement(t, name)
  assert.equal(document.body.querySelector('span')?.textContent, 'withdrawal.broadcasted')
  assert(document.querySelector('wbr') !== null)
  await page.render(createElement(EmailAddress, { of: 'ada@example.com' }))
  assert.equal(document.body.querySelector('span')?.textContent, 'ada@example.com')
})

test('lucide: an icon is hidden from screen readers unless it has a label', async (t) => {
  const page = await openElement(t, createElement(Check))
  assert.equal(document.querySelector('svg')?.getAttribute('aria-hidden'), 'true')
  await page.render(createElement(Check, { 'aria-label': 'Done' }))
  assert.equal(document.querySelector('svg')?.getAttribute('aria-hidden'), 'false')
  assert.throws(() => lucide('no-such-icon'), /no-such-icon/)
})

test('meter: the bar never exceeds its track, and amber begins above 85 percent', async (t) => {
  const props = { label: 'Used', max: 100, text: '' }
  const page = await open(t, Meter, { ...props, value: 150 })
  const bar = () => page.get('meter', 'Used').firstElementChild as HTMLElement
  assert.equal(bar().style.width, '100%')
  assert.match(bar().className, /bg-warn/)
  await page.render(createElement(Meter, { ...props, value: 85 }))
  assert.match(bar().className, /bg-accent/)
})

test('qr_code: another text is another code', async (t) => {
  const drawn = () => page.get('img', 'Address').querySelector('path')?.getAttribute('d') ?? ''
  const page = await open(t, QrCode, { text: 'T123', label: 'Address' })
  const first = drawn()
  assert(first.length > 100)
  await page.render(createElement(QrCode, { text: 'T124', label: 'Address' }))
  assert.notEqual(drawn(), first)
})

test('query_boundary: it shows that it loads, why it failed, or the data', async (t) => {
  type Query = Parameters<typeof QueryBoundary<string>>[0]['query']
  const boundary = (query: object) => {
    const props = { query: query as Query, children: (data: string) => data }
    return createElement(QueryBoundary<string>, props)
  }
  const page = await openElement(t, boundary({ data: undefined, error: null }))
  assert(page.has('status', 'Loading'))
  let retries = 0
  const refetch = async () => {
    retries += 1
  }
  const error = new FlorinError({ code: 'network_error', message: 'Can’t reach Florin.' })
  await page.render(boundary({ data: undefined, error, refetch }))
  await page.click('button', 'Try again')
  assert.equal(retries, 1)
  await page.render(boundary({ data: 'Loaded', error, refetch }))
  assert.equal(page.text(), 'Loaded')
})

test('section: the page header names the tab, and rows that do not apply are left out', async (t) => {
  const page = await open(t, PageHeader, { title: createElement('b', {}, '$5'), tab: '$5 top-up' })
  assert.equal(document.title, '$5 top-up · Florin')
  await page.render(createElement(DescriptionList, { rows: [['Fee', '$1'], false, ['Net', '$4']] }))
  assert.deepEqual(page.names('term'), ['Fee', 'Net'])
})

test('sparkline: it is named by its figures and drawn for every value, also zeros', async (t) => {
  const page = await open(t, Sparkline, { label: 'Spent: $0', values: [0, 0, 0] })
  const points = page.get('img', 'Spent: $0').querySelector('polyline')?.getAttribute('points')
  assert.equal(points?.split(' ').length, 3)
  assert.doesNotMatch(points ?? '', /NaN|Infinity/)
})

test('time: the exact time is on hover, and a countdown runs to zero', async (t) => {
  useTestClock(t, '2026-11-16T09:30:00.000Z')
  const at = '2026-11-16T09:30:02.000Z'
  const page = await open(t, Time, { at })
  assert.equal(page.get('time').getAttribute('datetime'), at)
  assert.match(page.get('time').title, /:02/)
  const since = '2026-11-16T09:30:00.000Z'
  await page.render(createElement(Countdown, { since, until: at }))
  assert.equal(page.get('timer').textContent, '00:01')
  await page.pass(3_000)
  assert.equal(page.get('timer').textContent, '00:00')
})

test('time: a countdown never shows more than its window, if the clock is behind', async (t) => {
  useTestClock(t, '2026-11-16T09:29:58.500Z')
  const window = { since: '2026-11-16T09:30:00.000Z', until: '2026-11-16T10:30:00.000Z' }
  const page = await open(t, Countdown, window)
  assert.equal(page.get('timer').textContent, '1:00:00')
})

test('timeline: steps are in order, and one that has not happened has no time', async (t) => {
  const steps = [
    { title: 'Filed', icon: Check, at: '2026-11-16T09:30:00.000Z' },
    { title: 'Decision', icon: Check, at: null, note: 'Soon.' },
  ]
  const page = await open(t, Timeline, { label: 'Timeline', steps })
  const [filed, decision] = page.all('listitem')
  assert(filed?.querySelector('time') != null)
  assert(decision?.querySelector('time') === null)
  assert.match(decision?.textContent ?? '', /Decision.*Soon\./)
})

test('toast: at most three are shown, each for five seconds', async (t) => {
  useTestClock(t)
  const page = await open(t, Toasts, {})
  for (const text of ['one', 'two', 'three', 'four']) toast(text)
  await page.settle()
  const texts = () => [...page.get('status').querySelectorAll('p')].map((p) => p.textContent)
  assert.deepEqual(texts(), ['two', 'three', 'four'])
  await page.pass(5_500)
  assert.deepEqual(texts(), [])
})
