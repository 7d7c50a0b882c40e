import assert from 'node:assert/strict'
import { test } from 'node:test'
import '#panel/test_support/browser_globals.ts'
import { refuse, serve } from '#panel/test_support/network.ts'
import { open } from '#panel/test_support/page.ts'
import { sample } from '#panel/test_support/samples.ts'
import { ChangePassword } from './change_password.tsx'

test('a changed password is sent with the current one, and both fields are cleared', async (t) => {
  const service = serve(t, { update_account: sample('update_account') })
  const page = await open(t, ChangePassword, {})
  await page.fill('Current password', 'old words')
  await page.fill('New password', 'new words')
  await page.click('button', 'Change password')
  const sent = { current_password: 'old words', password: 'new words' }
  assert.deepEqual(service.sent('update_account'), [sent])
  assert.equal(page.valueOf('Current password') + page.valueOf('New password'), '')
})

test('a wrong current password is shown there, and a weak new one at its own field', async (t) => {
  const service = serve(t, { update_account: refuse('invalid_credentials', 'Incorrect password.') })
  const page = await open(t, ChangePassword, {})
  await page.fill('Current password', 'wrong')
  await page.fill('New password', 'password')
  await page.click('button', 'Change password')
  assert.equal(page.errorOf('Current password'), 'Incorrect password.')
  assert.equal(page.errorOf('New password'), undefined)
  service.answer({ update_account: refuse('weak_password', { password: 'is too common' }) })
  await page.click('button', 'Change password')
  assert.equal(page.errorOf('Current password'), undefined)
  assert.equal(page.errorOf('New password'), 'Is too common.')
  assert.equal(page.valueOf('New password'), 'password')
})
