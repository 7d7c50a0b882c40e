import assert from 'node:assert/strict'
import { test } from 'node:test'
import '#panel/test_support/browser_globals.ts'
import { refuse, serve } from '#panel/test_support/network.ts'
import { open } from '#panel/test_support/page.ts'
import { sample } from '#panel/test_support/samples.ts'
import { OperatorSignIn } from './sign_in.tsx'

const operator_list_kill_switches = sample('operator_list_kill_switches')
const KEY = 'florin_operator_token'

test('a token that the service accepts is kept for this tab only', async (t) => {
  const service = serve(t, { operator_list_kill_switches })
  const page = await open(t, OperatorSignIn, {})
  await page.fill('Operator token', ' op_secret ')
  await page.click('button', 'Sign in')
  assert.equal(service.calls[0]?.headers.get('authorization'), 'Bearer op_secret')
  assert.equal(sessionStorage.getItem(KEY), 'op_secret')
  assert.equal(localStorage.getItem(KEY), null)
})

test('a refused token is reported and not kept', async (t) => {
  serve(t, { operator_list_kill_switches: refuse('invalid_token', 'This token is not valid.') })
  const page = await open(t, OperatorSignIn, {})
  await page.fill('Operator token', 'wrong')
  await page.click('button', 'Sign in')
  assert.equal(page.get('alert').textContent, 'This token is not valid.')
  assert.equal(sessionStorage.getItem(KEY), null)
})

test('a token with a second factor is exchanged for a session', async (t) => {
  const session = { bearer: 'op_session', expires_at: '2026-11-16T17:30:00.000Z' }
  const service = serve(t, {
    operator_list_kill_switches: refuse('totp_required', 'Enter a code.'),
    operator_sign_in: session,
  })
  const page = await open(t, OperatorSignIn, {})
  await page.fill('Operator token', 'op_secret')
  await page.click('button', 'Sign in')
  assert(!page.has('alert'))
  service.answer({ operator_list_kill_switches })
  await page.fill('Authentication code', '492039')
  await page.click('button', 'Sign in')
  assert.deepEqual(service.sent('operator_sign_in'), [{ totp_code: '492039' }])
  assert.equal(sessionStorage.getItem(KEY), 'op_session')
})
