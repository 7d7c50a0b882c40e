import assert from 'node:assert/strict'
import { test } from 'node:test'
import '#panel/test_support/browser_globals.ts'
import { queryClient } from '#panel/queries.ts'
import { refuse, serve } from '#panel/test_support/network.ts'
import { open } from '#panel/test_support/page.ts'
import { page as pageOf, sample } from '#panel/test_support/samples.ts'
import { Console } from './console.tsx'
import { saveToken } from './operator_api.ts'

const operator_list_tickets = pageOf([])

test('without a token every page is the sign-in form', async (t) => {
  const service = serve(t, {})
  const page = await open(t, Console, {}, { path: '/operator/tickets' })
  assert(page.has('textbox', 'Operator token'))
  assert.deepEqual(service.calls, [])
})

test('with a token the requested page opens and its link is the current one', async (t) => {
  const service = serve(t, {
    operator_list_tickets,
    operator_list_kill_switches: sample('operator_list_kill_switches'),
  })
  const page = await open(t, Console, {}, { path: '/operator/tickets' })
  await page.fill('Operator token', 'op_secret')
  await page.click('button', 'Sign in')
  assert(page.has('heading', 'Tickets'))
  assert.equal(page.get('link', 'Tickets').getAttribute('aria-current'), 'page')
  assert.equal(service.calls.at(-1)?.headers.get('authorization'), 'Bearer op_secret')
})

test('signing out forgets the token and what was loaded with it', async (t) => {
  serve(t, { operator_list_tickets })
  const page = await open(t, Console, {}, { path: '/operator/tickets' })
  saveToken('op_secret')
  await page.settle()
  await page.click('button', 'Sign out')
  assert(page.has('textbox', 'Operator token'))
  assert.equal(sessionStorage.getItem('florin_operator_token'), null)
  assert.equal(queryClient.getQueryCache().getAll().length, 0)
})

test('a session that has ended leads to the sign-in form, which says why', async (t) => {
  const ended = refuse('token_expired', 'This operator session has ended. Sign in again.')
  const service = serve(t, { operator_list_tickets })
  const page = await open(t, Console, {}, { path: '/operator/tickets' })
  saveToken('op_secret')
  await page.settle()
  service.answer({ operator_list_disputes: ended })
  await page.click('link', 'Disputes')
  assert(page.has('textbox', 'Operator token'))
  assert.deepEqual(page.toasts(), [ended.message])
  assert.equal(sessionStorage.getItem('florin_operator_token'), null)
  assert.equal(queryClient.getQueryCache().getAll().length, 0)
})

test('a wrong token is refused in the form and signs nobody out', async (t) => {
  serve(t, { operator_list_kill_switches: refuse('invalid_token', 'Not a valid token.') })
  const page = await open(t, Console, {}, { path: '/operator' })
  await page.fill('Operator token', 'op_wrong')
  await page.click('button', 'Sign in')
  assert.match(page.get('alert').textContent ?? '', /Not a valid token/)
  assert.deepEqual(page.toasts(), [])
})

test('an address that no page has says so', async (t) => {
  const page = await open(t, Console, {}, { path: '/operator/nothing' })
  saveToken('op_secret')
  await page.settle()
  assert.match(page.text(), /Page not found/)
})
