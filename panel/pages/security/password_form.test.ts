import assert from 'node:assert/strict'
import { test } from 'node:test'
import '#panel/test_support/browser_globals.ts'
import { FlorinError } from '#client/client.ts'
import { serve } from '#panel/test_support/network.ts'
import { open } from '#panel/test_support/page.ts'
import { sample } from '#panel/test_support/samples.ts'
import { type OwnerProof, PasswordForm } from './password_form.tsx'

const accountWith = (two_factor_enabled: boolean) => ({
  get_account: sample('get_account', { two_factor_enabled }),
})

function recorder(refusals: FlorinError[] = []) {
  const sent: OwnerProof[] = []
  const submit = async (owner: OwnerProof) => {
    sent.push(owner)
    const refusal = refusals.shift()
    if (refusal !== undefined) throw refusal
  }
  return { sent, submit }
}

test('an account with two-factor authentication is asked for password and code', async (t) => {
  serve(t, accountWith(true))
  const { sent, submit } = recorder()
  const page = await open(t, PasswordForm, { submit, action: 'Reveal', onCancel: () => {} })
  await page.fill('Password', 'secret words')
  await page.click('button', 'Reveal')
  assert.deepEqual(sent, [], 'the code is required')
  await page.fill('Authentication code', ' 492039 ')
  await page.click('button', 'Reveal')
  assert.deepEqual(sent, [{ password: 'secret words', totp_code: '492039' }])
})

test('a code that the service requires is asked for, even if the account looked otherwise', async (t) => {
  serve(t, accountWith(false))
  const refusal = new FlorinError({ code: 'totp_required', message: 'Enter a code.', status: 401 })
  const { submit } = recorder([refusal])
  const page = await open(t, PasswordForm, { submit, action: 'Reveal', onCancel: () => {} })
  assert(!page.has('textbox', 'Authentication code'))
  await page.fill('Password', 'secret words')
  await page.click('button', 'Reveal')
  assert(page.has('textbox', 'Authentication code'))
  assert(!page.has('alert'))
})

test('Cancel does not send anything', async (t) => {
  serve(t, accountWith(false))
  let canceled = 0
  const { sent, submit } = recorder()
  const onCancel = () => {
    canceled += 1
  }
  const page = await open(t, PasswordForm, { submit, action: 'Reveal', onCancel })
  await page.fill('Password', 'secret words')
  await page.click('button', 'Cancel')
  assert.equal(canceled, 1)
  assert.deepEqual(sent, [])
})
