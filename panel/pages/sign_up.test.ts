import assert from 'node:assert/strict'
import { test } from 'node:test'
import '#panel/test_support/browser_globals.ts'
import { bearer } from '#panel/session.ts'
import { refuse, serve } from '#panel/test_support/network.ts'
import { open } from '#panel/test_support/page.ts'
import { sample } from '#panel/test_support/samples.ts'
import { SignUp } from './sign_up.tsx'

test('a new account is signed in immediately', async (t) => {
  const service = serve(t, { create_account: sample('create_account', { bearer: 'sess_new' }) })
  const page = await open(t, SignUp, {})
  await page.fill('Email', 'ada@example.com')
  await page.fill('Password', 'secret words')
  await page.click('button', 'Create account')
  const sent = { email: 'ada@example.com', password: 'secret words' }
  assert.deepEqual(service.sent('create_account'), [sent])
  assert.equal(bearer(), 'sess_new')
})

test('a taken email and a weak password are shown at their fields', async (t) => {
  const service = serve(t, { create_account: refuse('email_taken', 'Sign in instead.') })
  const page = await open(t, SignUp, {})
  await page.fill('Email', 'ada@example.com')
  await page.fill('Password', 'password')
  await page.click('button', 'Create account')
  assert.equal(page.errorOf('Email'), 'Sign in instead.')
  service.answer({ create_account: refuse('weak_password', { password: 'is too common' }) })
  await page.click('button', 'Create account')
  assert.equal(page.errorOf('Email'), undefined)
  assert.equal(page.errorOf('Password'), 'Is too common.')
  assert.equal(bearer(), null)
})
