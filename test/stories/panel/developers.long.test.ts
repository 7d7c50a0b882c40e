import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { OperationShape } from '#contract/operation.ts'
import { operations } from '#contract/operations.ts'
import { startAgentService } from '#test/support/agent.ts'
import { openHolder } from '#test/support/cards.ts'
import { send } from '#test/support/http.ts'
import { NO_BROWSER, startBrowser, visitOf } from '#test/support/panel_page.ts'
import { openAccount } from '#test/support/people.ts'
import { respondWith, startReceiver } from '#test/support/receiver.ts'
import { makeEvent } from '#test/support/webhooks.ts'

const service = await startAgentService()
const { url } = service
const browser = await startBrowser()
const skip = browser === null ? NO_BROWSER : false

test('a new endpoint shows its secret once, and a failed delivery can be resent', {
  skip,
}, async () => {
  if (browser === null) return
  const person = await openAccount(url)
  const receiver = await startReceiver()
  receiver.respond = respondWith(500, {}, 'not today')
  const { page, complaints } = await visitOf(browser, { url, bearer: person.bearer })
  await page.goto('/developers/webhooks')
  await page.getByRole('button', { name: 'Add endpoint' }).click()
  const dialog = page.getByRole('dialog')
  await dialog.getByLabel('Endpoint URL').fill(receiver.url)
  await dialog.getByLabel('All events').uncheck()
  await dialog.getByLabel('account.signed_in').check()
  await dialog.getByRole('button', { name: 'Add endpoint' }).click()
  const secret = await page.getByRole('status', { name: 'Signing secret' }).innerText()
  assert.match(secret, /^whsec_/)
  await page.getByRole('button', { name: 'Done' }).click()
  await page.getByText('No deliveries yet').waitFor()
  assert.equal((await page.content()).includes(secret), false)

  await makeEvent(url, person)
  const attempts = page.getByRole('list', { name: 'Recent deliveries' }).getByRole('listitem')
  await attempts.filter({ hasText: 'HTTP 500' }).first().waitFor()
  receiver.respond = respondWith(200, {}, 'thanks')
  await page.getByRole('button', { name: 'Resend account.signed_in' }).first().click()
  await page.getByText('Resent. The endpoint responded with 200.').waitFor()
  await attempts.filter({ hasText: 'Resent' }).waitFor()
  const bodies = new Set(receiver.received.map(({ body }) => body))
  assert.deepEqual([receiver.received.length > 1, bodies.size], [true, 1], 'the same bytes again')
  assert.deepEqual(complaints, [])
})

test('an API key is shown once, works, and can be revoked', { skip }, async () => {
  if (browser === null) return
  const person = await openAccount(url)
  const { page } = await visitOf(browser, { url, bearer: person.bearer })
  await page.goto('/developers')
  await page.getByRole('button', { name: 'Create API key' }).click()
  await page.getByLabel('Name (optional)').fill('Bookkeeping')
  await page.getByRole('dialog').getByRole('button', { name: 'Create API key' }).click()
  const key = await page.getByRole('status', { name: 'API key' }).innerText()
  await page.getByRole('button', { name: 'Done' }).click()
  const account = () => send(url, 'GET', '/v1/accounts/me', { bearer: key })
  assert.equal((await account()).status, 200)
  await page.getByRole('button', { name: 'Revoke Bookkeeping' }).click()
  await page.getByRole('button', { name: 'Revoke API key' }).click()
  await page.getByText('API key revoked.').waitFor()
  assert.equal((await account()).body['error'], 'token_revoked')
})

test('every operation has a form with all its fields and a curl example', {
  skip,
}, async () => {
  if (browser === null) return
  const { bearer } = await openHolder(service, 40)
  const { page } = await visitOf(browser, { url, bearer })
  await page.goto('/developers/requests')
  const shell = page.getByRole('tabpanel')
  const shapes: readonly OperationShape[] = Object.values(operations)
  for (const { name, path, method, input } of shapes) {
    await page.getByLabel('Operation', { exact: true }).selectOption(name)
    const shown = `${url}/v1${path.replaceAll(/\{(\w+)\}/g, (_, id: string) => id.toUpperCase())}`
    await shell.filter({ hasText: shown }).waitFor()
    assert.equal((await shell.innerText()).includes(`-X ${method}`), method !== 'GET', name)
    const labels = await page.locator('form label').allInnerTexts()
    const fields = labels.map((label) => label.replace(' (optional)', ''))
    assert.deepEqual(fields, Object.keys(input.properties), name)
  }
  await page.getByLabel('Operation', { exact: true }).selectOption('create_api_key')
  await page.getByLabel('name (optional)').fill("Ada's")
  await shell.filter({ hasText: `-d '{"name":"Ada'\\''s"}'` }).waitFor()
  await page.getByRole('tab', { name: 'MCP' }).click()
  await page.getByRole('tabpanel').filter({ hasText: '"tools/call"' }).waitFor()
  await page.getByLabel('Operation', { exact: true }).selectOption('get_balance')
  await page.getByRole('button', { name: 'Send request' }).click()
  await page.getByText('"balance_usd": 40').waitFor()
})

test('the audit log can be filtered, and limits show today’s usage', { skip }, async () => {
  if (browser === null) return
  const person = await openAccount(url)
  const { page } = await visitOf(browser, { url, bearer: person.bearer })
  await page.goto('/developers/audit')
  const rows = page.getByRole('table', { name: 'Audit log' }).locator('tbody tr')
  await rows.filter({ hasText: 'account.created' }).waitFor()
  await page.getByLabel('Result').selectOption('Denied')
  await page.getByText('No results').waitFor()
  await page.getByRole('link', { name: 'Limits' }).click()
  await page.getByRole('meter', { name: 'Withdrawn today' }).waitFor()
})
