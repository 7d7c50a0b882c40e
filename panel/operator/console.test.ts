import assert from 'node:assert/strict'
import { test } from 'node:test'
import '#panel/test_support/browser_globals.ts'
import { queryClient } from '#panel/queries.ts'
import { serve } from '#panel/test_support/network.ts'
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

test('an address that no page has says so', async (t) => {
  const page = await open(t, Console, {}, { path: '/operator/nothing' })
  saveToken('op_secret')
  await page.settle()
  assert.match(page.text(), /Page not found/)
})
