import assert from 'node:assert/strict'
import { test } from 'node:test'
import '#panel/test_support/browser_globals.ts'
import { type Answers, serve } from '#panel/test_support/network.ts'
import { open } from '#panel/test_support/page.ts'
import { page as pageOf, row } from '#panel/test_support/samples.ts'
import { Activity } from './activity.tsx'
import { Inbox } from './inbox.tsx'
import { NotFound } from './not_found.tsx'

const event = row('get_activity', { message: 'Card frozen' })
const answers: Answers = {
  'GET /oauth/grants': { data: [] },
  list_cards: pageOf([]),
}

test('without a type all events are listed; a type uses the operation that takes one', async (t) => {
  const service = serve(t, { ...answers, get_activity: pageOf([event]) })
  const page = await open(t, Activity, {}, { path: '/activity' })
  assert.match(page.in('table').text(), /Card frozen/)
  assert.deepEqual(service.sent('get_activity'), [{}])
  service.answer({ get_activity: undefined as never, filter_activity: pageOf([]) })
  await page.fill('Type', 'card')
  assert.deepEqual(service.sent('filter_activity'), [{ type: 'card' }])
})

const mails = [1, 2].map((at) => ({
  id: `mail_${at}`,
  to: 'ada@example.com',
  subject: `Subject ${at}`,
  text: `Text ${at}`,
  created_at: '2026-11-16T09:30:00.000Z',
}))

test('inbox: the newest email is open, another opens on a click, and its text can be read', async (t) => {
  serve(t, {
    'GET /sandbox/v1/inbox': { data: mails },
    'POST /sandbox/v1/inbox/mail_1/preview': { url: 'about:blank' },
    'POST /sandbox/v1/inbox/mail_2/preview': { url: 'about:blank' },
  })
  const page = await open(t, Inbox, {})
  assert.equal(document.querySelector('iframe')?.title, 'Subject 1')
  await page.click('button', /^Subject 2/)
  await page.click('tab', 'Text')
  assert.match(page.get('tabpanel').textContent ?? '', /Text 2/)
})

test('inbox: without emails it says how to get one', async (t) => {
  serve(t, { 'GET /sandbox/v1/inbox': { data: [] } })
  const page = await open(t, Inbox, {})
  assert.match(page.text(), /No emails yet/)
})

test('not_found: it leads to the overview', async (t) => {
  const page = await open(t, NotFound, {}, { path: '/nowhere' })
  await page.click('link', 'Go to overview')
  assert.equal(page.path(), '/')
})
