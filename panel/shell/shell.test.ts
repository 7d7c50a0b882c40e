import assert from 'node:assert/strict'
import { test } from 'node:test'
import '#panel/test_support/browser_globals.ts'
import { createElement } from 'react'
import { Statements } from '#panel/pages/statements.tsx'
import { bearer, saveBearer } from '#panel/session.ts'
import { useTestClock } from '#panel/test_support/clock.ts'
import { type Answers, no_response, refuse, serve } from '#panel/test_support/network.ts'
import { open } from '#panel/test_support/page.ts'
import { page as pageOf, row, sample } from '#panel/test_support/samples.ts'
import { AccountMenu } from './account_menu.tsx'
import { AuthLayout } from './auth_layout.tsx'
import { MaintenanceBanner } from './maintenance_banner.tsx'
import { BottomBar, Sidebar } from './navigation.tsx'
import { PendingApprovals } from './pending_approvals.tsx'
import { Shell } from './shell.tsx'

const accountWith = (livemode: boolean) => sample('get_account', { livemode })
const answers: Answers = {
  'GET /v1/activity/stream': no_response,
  get_account: accountWith(true),
  get_system_health: sample('get_system_health', { maintenance: [] }),
  list_approvals: pageOf([]),
}

test('the sandbox is marked and has its tools, and a live account has neither', async (t) => {
  const service = serve(t, answers)
  const live = await open(t, Shell, { children: 'Page' })
  assert(!live.has('button', 'Simulate activity'))
  assert.doesNotMatch(live.text(), /Sandbox/)
  service.answer({ get_account: accountWith(false) })
  const page = await open(t, Shell, { children: 'Page' })
  assert(page.has('button', 'Simulate activity'))
  assert.match(page.text(), /Sandbox/)
})

test('the stream is opened again after a break, and its events refetch what they change', async (t) => {
  useTestClock(t)
  const event = row('get_activity', { event: 'approval.requested' as never })
  const streams = [new Response(''), new Response(`: hi\n\ndata: ${JSON.stringify(event)}\n\n`)]
  const service = serve(t, {
    ...answers,
    'GET /v1/activity/stream': () => streams.shift() ?? no_response,
  })
  const page = await open(t, Shell, { children: createElement(PendingApprovals) })
  const asked = service.sent('list_approvals').length
  await page.pass(2_500)
  assert.equal(service.sent('list_approvals').length, asked + 1)
  await page.pass(2_500)
  assert.equal(service.sent('GET /v1/activity/stream').length, 3)
  assert.equal(service.calls.at(-1)?.headers.get('last-event-id'), event.id)
})

test('a stream that breaks before any event is resumed from where it began', async (t) => {
  useTestClock(t)
  const { id } = row('get_activity')
  const streams = [new Response(`retry: 2000\nid: ${id}\n\n: keep-alive\n\n`)]
  const service = serve(t, {
    ...answers,
    'GET /v1/activity/stream': () => streams.shift() ?? no_response,
  })
  const page = await open(t, Shell, { children: 'Page' })
  await page.pass(2_500)
  assert.equal(service.sent('GET /v1/activity/stream').length, 2)
  assert.equal(service.calls.at(-1)?.headers.get('last-event-id'), id)
})

test('everything that moves money refetches the statement of this month', async (t) => {
  useTestClock(t)
  const names = ['topup.confirmed', 'dispute.won', 'withdrawal.completed', 'transaction.captured']
  const blocks = names.map((event) => {
    return `data: ${JSON.stringify(row('get_activity', { event: event as never }))}\n\n`
  })
  const streams = ['', ...blocks].map((text) => new Response(text))
  const service = serve(t, {
    ...answers,
    list_statements: pageOf([row('list_statements')]),
    'GET /v1/activity/stream': () => streams.shift() ?? no_response,
  })
  const page = await open(t, Shell, { children: createElement(Statements) })
  for (const name of names) {
    const asked = service.sent('list_statements').length
    await page.pass(2_500)
    assert.equal(service.sent('list_statements').length, asked + 1, name)
  }
})

test('the page that failed is replaced, and the navigation stays', async (t) => {
  serve(t, answers)
  const Broken = () => {
    throw new Error('broken')
  }
  const shell = { children: createElement(Broken) }
  const page = await open(t, Shell, shell, { expected_errors: /./ })
  assert(page.has('alert'))
  assert(page.has('link', 'Cards'))
})

test('logo, navigation: the link of the open page is the current one, also on its detail pages', async (t) => {
  serve(t, answers)
  const page = await open(t, Sidebar, {}, { path: '/cards/card_1' })
  const current = page.all('link').filter((link) => link.hasAttribute('aria-current'))
  assert.deepEqual(
    current.map((link) => link.textContent),
    ['Cards'],
  )
  assert.match(page.text(), /^Florin/)
})

test('navigation: on a phone, the other pages are behind "More", which closes on a choice', async (t) => {
  serve(t, answers)
  const page = await open(t, BottomBar, {}, { path: '/' })
  assert(!page.has('link', 'Settings'))
  await page.click('button', 'More')
  await page.click('link', 'Settings')
  assert.equal(page.path(), '/settings')
  assert(!page.has('dialog'))
})

test('pending_approvals: the number of requests is shown, and nothing without any', async (t) => {
  const approval = row('list_approvals', { status: 'pending' })
  const service = serve(t, { list_approvals: pageOf([approval], 'page_2') })
  const page = await open(t, PendingApprovals, {})
  assert.match(page.text(), /1 ?\+ waiting/)
  assert.deepEqual(service.sent('list_approvals'), [{ status: 'pending' }])
  service.answer({ list_approvals: pageOf([]) })
  const none = await open(t, PendingApprovals, {})
  assert.equal(none.text(), '')
})

test('account_menu: signing out ends the session here even if the request fails', async (t) => {
  const service = serve(t, { sign_out: refuse('kill_switch_active') })
  const page = await open(t, AccountMenu, { email: 'ada@example.com' }, { path: '/cards' })
  saveBearer('sess_1')
  await page.click('button', 'Account')
  assert.match(page.get('menu').textContent ?? '', /ada@example\.com/)
  await page.click('menuitem', 'Sign out')
  assert.equal(service.sent('sign_out').length, 1)
  assert.equal(bearer(), null)
  assert.equal(page.path(), '/sign_in')
})

test('account_menu: the chosen theme is marked', async (t) => {
  const page = await open(t, AccountMenu, { email: 'ada@example.com' })
  await page.click('button', 'Account')
  await page.click('menuitem', 'Dark')
  assert.equal(document.documentElement.dataset['theme'], 'dark')
  await page.click('button', 'Account')
  assert(page.has('menuitem', 'Dark ✓'))
  await page.click('menuitem', 'Match system')
})

test('maintenance_banner: it is shown in the last week before, and while it runs, and not after', async (t) => {
  useTestClock(t, '2026-11-16T09:30:00.000Z')
  const checked_at = '2026-11-16T09:30:00.000Z'
  const [example] = sample('get_system_health').maintenance
  assert(example !== undefined)
  const plan = (starts_at: string, ends_at: string) => {
    const maintenance = [{ ...example, starts_at, ends_at, message: 'Deposits pause.' }]
    return { get_system_health: sample('get_system_health', { checked_at, maintenance }) }
  }
  const service = serve(t, plan('2026-11-20T09:00:00.000Z', '2026-11-20T10:00:00.000Z'))
  const soon = await open(t, MaintenanceBanner, {})
  assert.match(soon.get('status').textContent ?? '', /Scheduled maintenance.*Deposits pause\./)
  service.answer(plan('2026-11-16T09:00:00.000Z', '2026-11-16T10:00:00.000Z'))
  const running = await open(t, MaintenanceBanner, {})
  assert.match(running.get('status').textContent ?? '', /Maintenance until/)
  service.answer(plan('2026-12-16T09:00:00.000Z', '2026-12-16T10:00:00.000Z'))
  const far = await open(t, MaintenanceBanner, {})
  assert(!far.has('status'))
})

test('auth_layout: the title is the heading of the page', async (t) => {
  const parts = { title: 'Sign in', description: 'Welcome.', children: 'Form', below: 'Below' }
  const page = await open(t, AuthLayout, parts)
  assert(page.has('heading', 'Sign in'))
  assert.match(page.in('main').text(), /Welcome\. Form Below/)
})
