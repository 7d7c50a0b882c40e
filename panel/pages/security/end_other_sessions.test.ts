import assert from 'node:assert/strict'
import { test } from 'node:test'
import '#panel/test_support/browser_globals.ts'
import { refuse, serve } from '#panel/test_support/network.ts'
import { open } from '#panel/test_support/page.ts'
import { page as pageOf, row } from '#panel/test_support/samples.ts'
import { EndOtherSessions } from './end_other_sessions.tsx'

const example = row('list_sessions', { current: false })
const sessions = [1, 2, 3].map((at) => ({ ...example, id: example.id.replace(/.$/, String(at)) }))
const [first = example, second = example, third = example] = sessions

test('all other sessions end, on all pages of the list, and this one stays', async (t) => {
  const service = serve(t, {
    list_sessions: ({ cursor }) =>
      cursor === undefined
        ? pageOf([first, { ...second, current: true }], 'page_2')
        : pageOf([third]),
    revoke_session: {},
  })
  const page = await open(t, EndOtherSessions, {})
  await page.click('button', 'Sign out everywhere else')
  await page.in('dialog').get('button', 'Sign out everywhere else').click()
  await page.settle()
  assert.deepEqual(service.sent('revoke_session'), [{ id: first.id }, { id: third.id }])
  assert(!page.has('dialog'))
})

test('a session that has ended meanwhile is no error; another refusal is', async (t) => {
  const service = serve(t, {
    list_sessions: pageOf([first, second]),
    revoke_session: ({ id }) => (id === first.id ? refuse('not_found', 'No such session.') : {}),
  })
  const page = await open(t, EndOtherSessions, {})
  await page.click('button', 'Sign out everywhere else')
  await page.clickOn(page.in('dialog').get('button', 'Sign out everywhere else'))
  assert.equal(service.sent('revoke_session').length, 2)
  assert(!page.has('dialog'))
  service.answer({ revoke_session: refuse('kill_switch_active', 'Try again later.') })
  await page.click('button', 'Sign out everywhere else')
  await page.clickOn(page.in('dialog').get('button', 'Sign out everywhere else'))
  assert.match(page.in('dialog').get('alert').textContent ?? '', /Try again later\./)
})
