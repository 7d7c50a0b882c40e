import assert from 'node:assert/strict'
import { test } from 'node:test'
import '#panel/test_support/browser_globals.ts'
import { Settings } from '#panel/pages/settings.tsx'
import { no_response, refuse, serve } from '#panel/test_support/network.ts'
import { open } from '#panel/test_support/page.ts'
import { sample } from '#panel/test_support/samples.ts'
import { ChangeEmail } from './change_email.tsx'
import { NotificationSettings } from './notification_settings.tsx'
import { ThemeSelect } from './theme_select.tsx'

const account = sample('get_account', {
  notifications: { transaction_declined: true, low_balance_threshold_usd: 50 },
})
const { notifications } = account
const isOn = (element: Element) => element.getAttribute('aria-checked')

test('change_email: a taken email and a wrong password are shown at their fields', async (t) => {
  const service = serve(t, { update_account: refuse('email_taken', 'Sign in instead.') })
  const page = await open(t, ChangeEmail, { account })
  await page.fill('New email', 'new@example.com')
  await page.fill('Confirm with your password', 'secret words')
  await page.click('button', 'Change email')
  assert.equal(page.errorOf('New email'), 'Another account has this email.')
  service.answer({ update_account: refuse('invalid_credentials', 'Incorrect password.') })
  await page.click('button', 'Change email')
  assert.equal(page.errorOf('Confirm with your password'), 'Incorrect password.')
  service.answer({ update_account: account })
  await page.click('button', 'Change email')
  const sent = { email: 'new@example.com', current_password: 'secret words' }
  assert.deepEqual(service.sent('update_account').at(-1), sent)
  assert.equal(page.valueOf('New email'), '')
})

test('notification_settings: a switch sends only itself and shows the new value while it saves', async (t) => {
  const service = serve(t, { update_account: no_response })
  const page = await open(t, NotificationSettings, { notifications })
  await page.click('switch', 'Purchase declined')
  const sent = { notifications: { transaction_declined: false } }
  assert.deepEqual(service.sent('update_account'), [sent])
  assert.equal(isOn(page.get('switch', 'Purchase declined')), 'false')
})

test('notification_settings: a saved switch does not jump back while the account is loaded again', async (t) => {
  const saved = { ...account, notifications: { ...notifications, transaction_declined: false } }
  const service = serve(t, { get_account: account, update_account: saved })
  const page = await open(t, Settings, {})
  service.answer({ get_account: no_response })
  await page.click('switch', 'Purchase declined')
  assert.equal(isOn(page.get('switch', 'Purchase declined')), 'false')
})

test('notification_settings: two switches that are saved at the same time both show their new value', async (t) => {
  serve(t, { update_account: no_response })
  const page = await open(t, NotificationSettings, { notifications })
  const names = ['Purchase declined', 'Card frozen']
  const before = names.map((name) => isOn(page.get('switch', name)))
  for (const name of names) await page.click('switch', name)
  const after = names.map((name) => isOn(page.get('switch', name)))
  assert(
    after.every((value, at) => value !== before[at]),
    after.join(),
  )
})

test('notification_settings: a refused change goes back and says why', async (t) => {
  serve(t, { update_account: refuse('account_suspended', 'Your account is suspended.') })
  const page = await open(t, NotificationSettings, { notifications })
  await page.click('switch', 'Purchase declined')
  assert.equal(isOn(page.get('switch', 'Purchase declined')), 'true')
  assert.match(page.get('alert').textContent ?? '', /suspended/)
})

test('notification_settings: security alerts cannot be switched off', async (t) => {
  const service = serve(t, {})
  const page = await open(t, NotificationSettings, { notifications })
  await page.click('switch', 'Security alerts')
  assert.deepEqual(service.calls, [])
})

test('notification_settings: an empty threshold turns the balance alert off', async (t) => {
  const service = serve(t, { update_account: account })
  const page = await open(t, NotificationSettings, { notifications })
  assert.equal(page.valueOf('Alert me when my balance is below'), '50')
  await page.fill('Alert me when my balance is below', '')
  await page.click('button', 'Save')
  const sent = { notifications: { low_balance_threshold_usd: null } }
  assert.deepEqual(service.sent('update_account'), [sent])
})

test('notification_settings: a refused threshold is shown at its field', async (t) => {
  const field = 'notifications.low_balance_threshold_usd'
  serve(t, { update_account: refuse('invalid_amount', { [field]: 'must be at most 1000000' }) })
  const page = await open(t, NotificationSettings, { notifications })
  await page.fill('Alert me when my balance is below', '900000')
  await page.click('button', 'Save')
  assert.equal(page.errorOf('Alert me when my balance is below'), 'Must be at most 1000000.')
})

test('theme_select: a theme takes effect immediately and is kept in the browser', async (t) => {
  const page = await open(t, ThemeSelect, {})
  assert.equal(page.valueOf('Theme'), 'system')
  await page.fill('Theme', 'dark')
  assert.equal(document.documentElement.dataset['theme'], 'dark')
  assert.equal(localStorage.getItem('florin_theme'), 'dark')
  await page.fill('Theme', 'system')
  assert.equal(document.documentElement.dataset['theme'], undefined)
})
