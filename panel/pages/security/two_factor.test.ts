import assert from 'node:assert/strict'
import { test } from 'node:test'
import '#panel/test_support/browser_globals.ts'
import { type Answers, refuse, serve } from '#panel/test_support/network.ts'
import { open } from '#panel/test_support/page.ts'
import { sample } from '#panel/test_support/samples.ts'
import { TurnOff } from './turn_off_two_factor.tsx'
import { TurnOn } from './turn_on_two_factor.tsx'
import { TwoFactor } from './two_factor.tsx'

const accountWith = (two_factor_enabled: boolean) => sample('get_account', { two_factor_enabled })

const started = sample('enable_2fa', { secret: 'JBSWY3DPEHPK3PXP', recovery_codes: null })
const codes = ['aaaa-1111', 'bbbb-2222']
const finished = { ...started, secret: null, uri: null, recovery_codes: codes }
const enable_2fa: Answers['enable_2fa'] = ({ totp_code }) => {
  if (totp_code === undefined) return started
  return totp_code === '492039' ? finished : refuse('totp_invalid', 'Incorrect code.')
}

test('turn_on_two_factor: it takes effect with the first right code, and then shows recovery codes', async (t) => {
  const service = serve(t, { enable_2fa })
  let closed = 0
  const onClose = () => {
    closed += 1
  }
  const page = await open(t, TurnOn, { onClose })
  assert(page.has('img', 'QR code for the authenticator app'))
  assert.match(page.in('dialog').text(), /JBSWY3DPEHPK3PXP/)
  const turnOn = () => page.clickOn(page.in('dialog').get('button', 'Turn on'))
  await page.fill('Authentication code', '111111')
  await turnOn()
  assert.equal(page.errorOf('Authentication code'), 'Incorrect code.')
  await page.fill('Authentication code', ' 492039 ')
  await turnOn()
  assert.deepEqual(page.in('list', 'Recovery codes').names('listitem'), codes)
  assert.deepEqual(service.sent('enable_2fa').at(-1), { totp_code: '492039' })
  await page.click('button', 'Done')
  assert.equal(closed, 1)
})

test('turn_on_two_factor: a setup that cannot start says why', async (t) => {
  serve(t, { enable_2fa: refuse('totp_already_enabled', 'It is already on.') })
  const page = await open(t, TurnOn, { onClose: () => {} })
  assert.equal(page.get('alert').textContent, 'It is already on.')
})

test('turn_off_two_factor: it asks for password and code, and shows each refusal at its field', async (t) => {
  const service = serve(t, { disable_2fa: refuse('invalid_credentials', 'Incorrect password.') })
  let closed = 0
  const onClose = () => {
    closed += 1
  }
  const page = await open(t, TurnOff, { onClose })
  const turnOff = () => page.clickOn(page.in('dialog').get('button', 'Turn off'))
  await page.fill('Password', 'wrong')
  await page.fill('Authentication code', '492039')
  await turnOff()
  assert.equal(page.errorOf('Password'), 'Incorrect password.')
  service.answer({ disable_2fa: refuse('totp_invalid', 'Incorrect code.') })
  await turnOff()
  assert.equal(page.errorOf('Authentication code'), 'Incorrect code.')
  service.answer({ disable_2fa: sample('disable_2fa') })
  await turnOff()
  assert.equal(closed, 1)
  const sent = { password: 'wrong', totp_code: '492039' }
  assert.deepEqual(service.sent('disable_2fa').at(-1), sent)
})

test('the section says whether it is on, and Escape closes the dialog without a request', async (t) => {
  const service = serve(t, {})
  const page = await open(t, TwoFactor, { account: accountWith(true) })
  assert.match(page.text(), /Two-factor authentication On/)
  await page.click('button', 'Turn off')
  await page.press('Escape')
  assert(!page.has('dialog'))
  assert.deepEqual(service.calls, [])
})
