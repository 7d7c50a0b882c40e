import assert from 'node:assert/strict'
import { test } from 'node:test'
import '#panel/test_support/browser_globals.ts'
import { Panel } from './panel.tsx'
import { queryClient } from './queries.ts'
import { clearSession, saveBearer } from './session.ts'
import { type Answers, no_response, refuse, serve } from './test_support/network.ts'
import { open } from './test_support/page.ts'
import { page as pageOf, sample } from './test_support/samples.ts'

const account = sample('get_account', { email: 'ada@example.com', livemode: true })
const answers: Answers = {
  'GET /v1/activity/stream': no_response,
  get_account: account,
  get_system_health: sample('get_system_health', { maintenance: [] }),
  list_approvals: pageOf([]),
  sign_in: sample('sign_in', { bearer: 'sess_1' }),
  sign_out: undefined as never,
}

test('signed out, every address shows the sign-in page and sends nothing', async (t) => {
  const service = serve(t, answers)
  const page = await open(t, Panel, {}, { path: '/nowhere' })
  assert(page.has('button', 'Sign in'))
  assert.deepEqual(service.calls, [])
})

test('after signing in, the address that was asked for opens', async (t) => {
  serve(t, answers)
  const page = await open(t, Panel, {}, { path: '/nowhere' })
  await page.fill('Email', 'ada@example.com')
  await page.fill('Password', 'secret words')
  await page.click('button', 'Sign in')
  assert.match(page.in('main').text(), /Page not found/)
  assert.equal(page.path(), '/nowhere')
})

test('signing out drops all data of the account before the next person signs in', async (t) => {
  serve(t, answers)
  const page = await open(t, Panel, {}, { path: '/nowhere' })
  saveBearer('sess_1')
  await page.settle()
  assert.notEqual(queryClient.getQueryData(['get_account', {}]), undefined)
  clearSession()
  await page.settle()
  assert(page.has('button', 'Sign in'))
  assert.equal(queryClient.getQueryCache().getAll().length, 0)
})

for (const [code, toast] of [
  ['token_expired', 'Your session expired. Sign in again to continue.'],
  ['token_revoked', 'You were signed out. Sign in again to continue.'],
] as const) {
  test(`a session with ${code} leads to the sign-in page and says why`, async (t) => {
    const get_account = refuse(code, 'This credential is not accepted.')
    serve(t, { ...answers, get_account })
    const page = await open(t, Panel, {}, { path: '/nowhere' })
    saveBearer('sess_1')
    await page.settle()
    assert(page.has('button', 'Sign in'))
    assert.deepEqual(page.toasts(), [toast])
  })
}

test('the pages for a forgotten password open with and without a session', async (t) => {
  serve(t, answers)
  const page = await open(t, Panel, {}, { path: '/forgot_password' })
  assert(page.has('button', 'Send reset link'))
  saveBearer('sess_1')
  await page.settle()
  assert(page.has('button', 'Send reset link'))
})
