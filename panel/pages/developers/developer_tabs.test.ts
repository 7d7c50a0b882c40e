import assert from 'node:assert/strict'
import { test } from 'node:test'
import '#panel/test_support/browser_globals.ts'
import { useTestClock } from '#panel/test_support/clock.ts'
import { refuse, serve } from '#panel/test_support/network.ts'
import { open } from '#panel/test_support/page.ts'
import { page as pageOf, row, sample } from '#panel/test_support/samples.ts'
import { ApiKeys } from './api_keys.tsx'
import { AuditLog } from './audit_log.tsx'
import { CreateKey } from './create_key.tsx'
import { CreateWebhook } from './create_webhook.tsx'
import { EventPicker } from './event_picker.tsx'
import { Limits } from './limits.tsx'
import { OperationForm } from './operation_form.tsx'
import { Requests } from './requests.tsx'
import { Webhooks } from './webhooks.tsx'

const key = row('list_api_keys', { name: 'Shop', status: 'active' })
const accountWith = (two_factor_enabled: boolean) => sample('get_account', { two_factor_enabled })

test('api_keys: a key is revoked after a question; a revoked one has no button', async (t) => {
  const old = { ...key, id: key.id.replace(/.$/, '2'), status: 'revoked' as const, name: 'Old' }
  const service = serve(t, {
    list_api_keys: pageOf([key, old]),
    revoke_api_key: sample('revoke_api_key'),
  })
  const page = await open(t, ApiKeys, {})
  assert(!page.has('button', /Old/))
  await page.click('button', /^Revoke/)
  await page.click('button', 'Revoke API key')
  assert.deepEqual(service.sent('revoke_api_key'), [{ id: key.id }])
  assert(!page.has('dialog'))
})

test('create_key: a new key is shown once, and is gone when the dialog closes', async (t) => {
  const create_api_key = sample('create_api_key', { key: 'sk_secret' })
  const service = serve(t, {
    get_account: accountWith(false),
    list_api_keys: pageOf([]),
    create_api_key,
  })
  const page = await open(t, ApiKeys, {})
  await page.click('button', 'Create API key')
  await page.fill('Name (optional)', ' Shop ')
  await page.clickOn(page.in('dialog').get('button', 'Create API key'))
  assert.deepEqual(service.sent('create_api_key'), [{ name: 'Shop' }])
  assert.equal(page.in('dialog').get('status', 'API key').textContent, 'sk_secret')
  await page.click('button', 'Done')
  assert.doesNotMatch(document.body.innerHTML, /sk_secret/)
})

test('create_key: with two-factor authentication a code is needed, and a wrong one shown there', async (t) => {
  const create_api_key = refuse('totp_invalid', 'Incorrect code.')
  serve(t, { get_account: accountWith(true), create_api_key })
  const page = await open(t, CreateKey, { onClose: () => {} })
  await page.fill('Authentication code', '111111')
  await page.click('button', 'Create API key')
  assert.equal(page.errorOf('Authentication code'), 'Incorrect code.')
})

test('create_key: a code is asked for if two-factor authentication was turned on elsewhere', async (t) => {
  const create_api_key = refuse('totp_required', 'Send totp_code.')
  const service = serve(t, { get_account: accountWith(false), create_api_key })
  const page = await open(t, CreateKey, { onClose: () => {} })
  await page.fill('Name (optional)', 'Shop')
  await page.click('button', 'Create API key')
  assert(!page.has('alert'))
  await page.fill('Authentication code', '111111')
  await page.click('button', 'Create API key')
  assert.deepEqual(service.sent('create_api_key')[1], { name: 'Shop', totp_code: '111111' })
})

test('create_webhook, webhook_fields, signing_secret: the secret of a new endpoint is shown once', async (t) => {
  const created = sample('create_webhook', { secret: 'whsec_1' })
  const service = serve(t, { create_webhook: created })
  const page = await open(t, CreateWebhook, { onClose: () => {} })
  await page.fill('Endpoint URL', 'https://shop.example/florin')
  await page.click('button', 'Add endpoint')
  const sent = { url: 'https://shop.example/florin', events: ['*'] }
  assert.deepEqual(service.sent('create_webhook'), [sent])
  assert.equal(page.get('status', 'Signing secret').textContent, 'whsec_1')
  await page.click('button', 'Done')
  assert.equal(page.path(), `/developers/webhooks/${created.id}`)
})

test('create_webhook: a refused URL is shown at its field', async (t) => {
  serve(t, { create_webhook: refuse('invalid_webhook_url', { url: 'must use https' }) })
  const page = await open(t, CreateWebhook, { onClose: () => {} })
  await page.fill('Endpoint URL', 'http://shop.example')
  await page.click('button', 'Add endpoint')
  assert.equal(page.errorOf('Endpoint URL'), 'Must use https.')
})

test('event_picker: all events exclude challenges, which are chosen by themselves', async (t) => {
  const changes: (readonly string[])[] = []
  const onChange = (selected: readonly string[]) => void changes.push(selected)
  const page = await open(t, EventPicker, { selected: ['three_ds.challenge'], onChange })
  await page.click('checkbox', 'All events')
  await page.click('checkbox', 'three_ds.challenge')
  await page.click('checkbox', 'card.frozen')
  assert.deepEqual(changes, [
    ['*', 'three_ds.challenge'],
    [],
    ['three_ds.challenge', 'card.frozen'],
  ])
})

test('webhooks: endpoints are listed with their status and open on a click', async (t) => {
  const webhook = row('list_webhooks', { status: 'enabled', failing_since: null })
  serve(t, { list_webhooks: pageOf([webhook]) })
  const page = await open(t, Webhooks, {}, { path: '/developers/webhooks' })
  await page.clickOn(page.in('table').all('link')[0] ?? document.body)
  assert.equal(page.path(), `/developers/webhooks/${webhook.id}`)
})

test('audit_log: the action is searched when typing pauses; a refused call is marked', async (t) => {
  useTestClock(t)
  const entry = row('get_audit_log', { result: 'denied' })
  const service = serve(t, {
    'GET /oauth/grants': { data: [] },
    get_audit_log: pageOf([entry]),
  })
  const page = await open(t, AuditLog, {}, { path: '/developers/audit' })
  assert.match(page.in('table').text(), /Denied/)
  await page.fill('Search by action', 'session.failed ')
  await page.pass(400)
  assert.deepEqual(service.sent('get_audit_log').at(-1), { action: 'session.failed' })
})

test('limits: the used part of each limit is shown in figures', async (t) => {
  const rate_limits = { sustained_per_minute: 1200, remaining: 1100 }
  const spend_limits = { withdrawal_used_today_usd: 250, withdrawal_daily_usd: 1000 }
  serve(t, { get_limits: sample('get_limits', { rate_limits, spend_limits }) })
  const page = await open(t, Limits, {})
  const texts = page.all('meter').map((meter) => meter.getAttribute('aria-valuetext'))
  assert.deepEqual(texts, [
    '100 of 1,200 requests used this minute',
    '$250.00 of $1,000.00 withdrawn today',
  ])
})

test('operation_form, schema_field: a request is sent as entered and its response shown', async (t) => {
  const id = row('list_cards').id
  const service = serve(t, { get_card: refuse('not_found', 'No such card.') })
  const page = await open(t, OperationForm, { name: 'get_card' })
  await page.fill('id', id)
  await page.click('button', 'Send request')
  assert.deepEqual(service.sent('get_card'), [{ id }])
  assert.match(page.text(), /404/)
  assert.match(page.text(), /No such card\./)
  service.answer({ get_card: sample('get_card') })
  await page.click('button', 'Send request')
  assert.match(page.text(), /200/)
})

test('operation_form: a call that cannot be undone asks first', async (t) => {
  const service = serve(t, { cancel_card: sample('cancel_card') })
  const page = await open(t, OperationForm, { name: 'cancel_card' })
  await page.fill('id', row('list_cards').id)
  await page.click('button', 'Send request')
  assert.deepEqual(service.calls, [])
  await page.clickOn(page.in('dialog').get('button', 'Send request'))
  assert.equal(service.sent('cancel_card').length, 1)
})

test('requests: the operation is kept in the address, and an unknown one is replaced', async (t) => {
  const page = await open(t, Requests, {}, { path: '/developers/requests?operation=nothing' })
  assert.equal(page.valueOf('Operation'), 'get_account')
  await page.fill('Operation', 'list_cards')
  assert.equal(page.path(), '/developers/requests?operation=list_cards')
})
