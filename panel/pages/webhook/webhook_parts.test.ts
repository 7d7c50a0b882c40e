import assert from 'node:assert/strict'
import { test } from 'node:test'
import '#panel/test_support/browser_globals.ts'
import { refuse, serve } from '#panel/test_support/network.ts'
import { open } from '#panel/test_support/page.ts'
import { row, sample } from '#panel/test_support/samples.ts'
import { Deliveries } from './deliveries.tsx'
import { EditWebhook } from './edit_webhook.tsx'
import { WebhookActions } from './webhook_actions.tsx'
import { WebhookStatus } from './webhook_status.tsx'

const webhook = row('list_webhooks', {
  url: 'https://shop.example/florin',
  status: 'enabled',
  failing_since: null,
  events: ['*'],
  description: 'Shop',
})
const updated = sample('update_webhook')
const onClose = () => {}

test('webhook_actions: an endpoint is disabled and enabled by one button', async (t) => {
  const service = serve(t, { update_webhook: { ...updated, status: 'disabled' } })
  const page = await open(t, WebhookActions, { webhook })
  await page.click('button', 'Disable')
  assert.deepEqual(service.sent('update_webhook'), [{ id: webhook.id, status: 'disabled' }])
  assert.deepEqual(page.toasts(), ['Endpoint disabled.'])
})

test('webhook_actions: a new secret is shown once, after a question', async (t) => {
  const service = serve(t, { update_webhook: { ...updated, secret: 'whsec_new' } })
  const page = await open(t, WebhookActions, { webhook })
  await page.click('button', 'More actions')
  await page.click('menuitem', 'Roll secret')
  await page.click('button', 'Roll secret')
  assert.deepEqual(service.sent('update_webhook'), [{ id: webhook.id, rotate_secret: true }])
  assert.equal(page.in('dialog').get('status', 'Signing secret').textContent, 'whsec_new')
  await page.click('button', 'Done')
  assert.doesNotMatch(document.body.innerHTML, /whsec_new/)
})

test('webhook_actions: deleting asks first and leads back to the list', async (t) => {
  const service = serve(t, { delete_webhook: sample('delete_webhook') })
  const page = await open(t, WebhookActions, { webhook })
  await page.click('button', 'More actions')
  await page.click('menuitem', 'Delete')
  await page.click('button', 'Delete endpoint')
  assert.deepEqual(service.sent('delete_webhook'), [{ id: webhook.id }])
  assert.equal(page.path(), '/developers/webhooks')
})

test('edit_webhook: a refused URL is shown at its field, and an empty description removes it', async (t) => {
  const service = serve(t, {
    update_webhook: refuse('invalid_webhook_url', { url: 'must be public' }),
  })
  const page = await open(t, EditWebhook, { webhook, onClose })
  await page.fill('Endpoint URL', 'https://localhost/florin')
  await page.fill('Description (optional)', ' ')
  await page.click('button', 'Save')
  assert.equal(page.errorOf('Endpoint URL'), 'Must be public.')
  const [sent] = service.sent('update_webhook')
  assert.equal(sent?.['description'], null)
  assert.deepEqual(sent?.['events'], ['*'])
})

test('edit_webhook: an endpoint without events cannot be saved', async (t) => {
  const page = await open(t, EditWebhook, { webhook, onClose })
  await page.click('checkbox', 'All events')
  assert.equal((page.get('button', 'Save') as HTMLButtonElement).disabled, true)
})

test('deliveries: an event is sent again, and the response of the endpoint reported', async (t) => {
  const [delivery] = webhook.recent_deliveries ?? []
  assert(delivery !== undefined)
  const replayed = sample('replay_webhook', { status: 'failed', response_status: 500, error: null })
  const service = serve(t, { replay_webhook: replayed })
  const page = await open(t, Deliveries, { webhook })
  await page.click('button', /^Resend/)
  const sent = { id: delivery.webhook_id, eid: delivery.event_id }
  assert.deepEqual(service.sent('replay_webhook'), [sent])
  assert.deepEqual(page.toasts(), ['Resend failed: 500.'])
  service.answer({ replay_webhook: refuse('event_expired', 'It is too old.') })
  await page.click('button', /^Resend/)
  assert.equal(page.toasts().at(-1), 'It is too old.')
})

test('webhook_status: a disabled endpoint is disabled, also if it failed before', async (t) => {
  const disabled = { ...webhook, status: 'disabled' as const, failing_since: webhook.created_at }
  const page = await open(t, WebhookStatus, { webhook: disabled })
  assert.equal(page.text(), 'Disabled')
})
