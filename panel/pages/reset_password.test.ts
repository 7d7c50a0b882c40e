import assert from 'node:assert/strict'
import { test } from 'node:test'
import '#panel/test_support/browser_globals.ts'
import { bearer, saveBearer } from '#panel/session.ts'
import { refuse, serve } from '#panel/test_support/network.ts'
import { open } from '#panel/test_support/page.ts'
import { ResetPassword } from './reset_password.tsx'

const at = { path: '/reset_password?token=tok_1' }

test('a new password ends the session here and leads to the sign-in page', async (t) => {
  const service = serve(t, { reset_password: {} })
  const page = await open(t, ResetPassword, {}, at)
  saveBearer('sess_old')
  await page.fill('New password', 'secret words')
  await page.click('button', 'Change password')
  assert.deepEqual(service.sent('reset_password'), [{ token: 'tok_1', password: 'secret words' }])
  assert.equal(bearer(), null)
  assert.equal(page.path(), '/sign_in')
})

test('with two-factor authentication, a code is asked for in addition', async (t) => {
  const service = serve(t, { reset_password: refuse('totp_required', 'Enter a code.') })
  const page = await open(t, ResetPassword, {}, at)
  await page.fill('New password', 'secret words')
  await page.click('button', 'Change password')
  assert(!page.has('alert'))
  service.answer({ reset_password: refuse('totp_invalid', 'Incorrect code.') })
  await page.fill('Authentication code', '111111')
  await page.click('button', 'Change password')
  assert.equal(page.errorOf('Authentication code'), 'Incorrect code.')
  assert.equal(page.valueOf('New password'), 'secret words')
})

test('a weak password is shown at its field', async (t) => {
  serve(t, { reset_password: refuse('weak_password', { password: 'is too common' }) })
  const page = await open(t, ResetPassword, {}, at)
  await page.fill('New password', 'password')
  await page.click('button', 'Change password')
  assert.equal(page.errorOf('New password'), 'Is too common.')
})

test('a link that was used or is incomplete offers a new one instead of a form', async (t) => {
  serve(t, { reset_password: refuse('reset_token_invalid', 'This link was already used.') })
  const page = await open(t, ResetPassword, {}, at)
  await page.fill('New password', 'secret words')
  await page.click('button', 'Change password')
  assert(!page.has('textbox'))
  assert.equal(page.get('link', 'Request a new link').getAttribute('href'), '/forgot_password')
  const incomplete = await open(t, ResetPassword, {}, { path: '/reset_password' })
  assert(!incomplete.has('textbox'))
  assert(incomplete.has('link', 'Request a new link'))
})
