import assert from 'node:assert/strict'
import { test } from 'node:test'
import '#panel/test_support/browser_globals.ts'
import { serve } from '#panel/test_support/network.ts'
import { open } from '#panel/test_support/page.ts'
import { page as pageOf, row } from '#panel/test_support/samples.ts'
import { WebhookPage } from './webhook.tsx'

const webhook = row('list_webhooks', {
  status: 'enabled',
  failing_since: '2026-11-16T09:30:00.000Z',
  recent_deliveries: [],
})

test('webhook_status: an endpoint that refuses deliveries is failing, not enabled', async (t) => {
  serve(t, { list_webhooks: pageOf([webhook]) })
  const page = await open(t, WebhookPage, { id: webhook.id })
  assert.match(page.text(), /Failing/)
  assert.match(page.text(), /No deliveries yet/)
})

test('an endpoint that does not exist is not found', async (t) => {
  serve(t, { list_webhooks: pageOf([]) })
  const page = await open(t, WebhookPage, { id: webhook.id })
  assert.match(page.text(), /Page not found/)
})
