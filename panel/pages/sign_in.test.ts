import assert from 'node:assert/strict'
import { test } from 'node:test'
import '#panel/test_support/browser_globals.ts'
import { bearer } from '#panel/session.ts'
import { refuse, serve } from '#panel/test_support/network.ts'
import { open } from '#panel/test_support/page.ts'
import { sample } from '#panel/test_support/samples.ts'
import { SignIn } from './sign_in.tsx'

const sign_in = sample('sign_in', { bearer: 'sess_secret' })

test('signing in sends email and password and keeps the bearer', async (t) => {
  const service = serve(t, { sign_in })
  const page = await open(t, SignIn, {})
  await page.fill('Email', 'ada@example.com')
  await page.fill('Password', 'secret words')
  await page.click('button', 'Sign in')
  const sent = { email: 'ada@example.com', password: 'secret words' }
  assert.deepEqual(service.sent('sign_in'), [sent])
  assert.equal(bearer(), 'sess_secret')
})

test('a wrong password is reported without saying which of the two is wrong', async (t) => {
  serve(t, { sign_in: refuse('invalid_credentials', 'Incorrect email or password.') })
  const page = await open(t, SignIn, {})
  await page.fill('Email', 'ada@example.com')
  await page.fill('Password', 'wrong')
  await page.click('button', 'Sign in')
  assert.equal(page.get('alert').textContent, 'Incorrect email or password.')
  assert.equal(page.errorOf('Email'), undefined)
  assert.equal(page.errorOf('Password'), undefined)
  assert.equal(bearer(), null)
})

test('the code is asked for only if the service requires one, and sent with the password', async (t) => {
  const service = serve(t, { sign_in: refuse('totp_required', 'Enter a code.') })
  const page = await open(t, SignIn, {})
  await page.fill('Email', 'ada@example.com')
  await page.fill('Password', 'secret words')
  await page.click('button', 'Sign in')
  assert(!page.has('alert'), 'the second step is not an error')
  service.answer({ sign_in: refuse('totp_invalid', 'Incorrect code.') })
  await page.fill('Authentication code', ' 111111 ')
  await page.click('button', 'Continue')
  assert.equal(page.errorOf('Authentication code'), 'Incorrect code.')
  service.answer({ sign_in })
  await page.fill('Authentication code', '492039')
  await page.click('button', 'Continue')
  const codes = service.sent('sign_in').map(({ totp_code }) => totp_code)
  assert.deepEqual(codes, [undefined, '111111', '492039'])
  assert.equal(bearer(), 'sess_secret')
})

test('someone else can start over in the second step', async (t) => {
  serve(t, { sign_in: refuse('totp_required', 'Enter a code.') })
  const page = await open(t, SignIn, {})
  await page.fill('Email', 'ada@example.com')
  await page.fill('Password', 'secret words')
  await page.click('button', 'Sign in')
  await page.click('button', 'Use another account')
  assert(page.has('textbox', 'Email'))
  assert(!page.has('textbox', 'Authentication code'))
})

test('an email that is none is not sent', async (t) => {
  const service = serve(t, {})
  const page = await open(t, SignIn, {})
  await page.fill('Email', 'ada')
  await page.fill('Password', 'secret words')
  await page.click('button', 'Sign in')
  assert.deepEqual(service.calls, [])
})
