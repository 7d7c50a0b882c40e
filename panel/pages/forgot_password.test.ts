import assert from 'node:assert/strict'
import { test } from 'node:test'
import '#panel/test_support/browser_globals.ts'
import { refuse, serve } from '#panel/test_support/network.ts'
import { open } from '#panel/test_support/page.ts'
import { ForgotPassword } from './forgot_password.tsx'

const CARD = 'GET /.well-known/mcp/server-card.json'
const modeOf = (mode: string) => ({ _meta: { 'florin/mode': mode } })

test('a request for a link never says whether the account exists', async (t) => {
  const service = serve(t, { request_password_reset: {}, [CARD]: modeOf('live') })
  const page = await open(t, ForgotPassword, {}, { path: '/forgot_password' })
  await page.fill('Email', 'ada@example.com')
  await page.click('button', 'Send reset link')
  assert.deepEqual(service.sent('request_password_reset'), [{ email: 'ada@example.com' }])
  assert.match(page.text(), /If an account with ada@example\.com exists/)
  assert.doesNotMatch(page.text(), /sandbox/)
  await page.click('button', 'Use another email')
  assert.equal(page.valueOf('Email'), 'ada@example.com')
})

test('the email typed on the sign-in page is filled in', async (t) => {
  const page = await open(t, ForgotPassword, {}, { state: { email: 'ada@example.com' } })
  assert.equal(page.valueOf('Email'), 'ada@example.com')
})

test('in the sandbox the page says where the email is', async (t) => {
  serve(t, { request_password_reset: {}, [CARD]: modeOf('sandbox') })
  const page = await open(t, ForgotPassword, {})
  await page.fill('Email', 'ada@example.com')
  await page.click('button', 'Send reset link')
  assert.equal(page.get('link', 'sandbox inbox').getAttribute('href'), '/docs/sandbox')
})

test('too many requests are reported, and the form stays', async (t) => {
  serve(t, { request_password_reset: refuse('too_many_attempts', 'Try again in an hour.') })
  const page = await open(t, ForgotPassword, {})
  await page.fill('Email', 'ada@example.com')
  await page.click('button', 'Send reset link')
  assert.equal(page.get('alert').textContent, 'Try again in an hour.')
  assert(page.has('button', 'Send reset link'))
})
