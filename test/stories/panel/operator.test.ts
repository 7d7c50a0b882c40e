import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Page } from 'playwright-core'
import { startAgentService } from '#test/support/agent.ts'
import { fileDispute, getDispute, openBuyer } from '#test/support/disputes.ts'
import { send } from '#test/support/http.ts'
import { everyPage, NO_BROWSER, startBrowser, visitOf } from '#test/support/panel_page.ts'

const service = await startAgentService()
const { url } = service
const browser = await startBrowser()
const skip = browser === null ? NO_BROWSER : false
const operator_token = 'operator_token_of_the_tests'
const buyer = await openBuyer(service)
const dispute = await fileDispute(url, buyer)
await send(url, 'POST', '/v1/tickets', {
  bearer: buyer.key,
  body: { subject: 'Where is my parcel?', message: 'It was due on Monday.', category: 'card' },
})

const heading = (name: string) => (page: Page) =>
  page.getByRole('heading', { name, level: 1 }).waitFor()
const row = (name: string) => (page: Page) => page.getByRole('button', { name }).waitFor()

test('an operator answers a dispute and decides it', { skip }, async () => {
  if (browser === null) return
  const { page, complaints } = await visitOf(browser, { url })
  await page.goto('/operator')
  await page.getByLabel('Operator token').fill(operator_token)
  await page.getByRole('button', { name: 'Sign in' }).click()
  await page.getByRole('link', { name: 'Disputes' }).click()
  await page.getByRole('button', { name: 'Not received' }).click()
  await page.getByLabel('What the other side says').fill('It was signed for.')
  await page.getByRole('button', { name: 'Record the answer' }).click()
  await page.getByText('Recorded.').waitFor()
  assert.equal((await getDispute(url, buyer.key, dispute.id)).status, 'answered')

  await page.getByRole('button', { name: 'Holder wins' }).click()
  await page.getByRole('button', { name: 'Holder wins' }).waitFor({ state: 'detached' })
  const { status, outcome, response } = await getDispute(url, buyer.key, dispute.id)
  assert.deepEqual([status, outcome], ['closed', 'won'])
  assert.equal(response?.text, 'It was signed for.')
  assert.deepEqual(complaints, [])
})

test('an operator answers a ticket, and suspends and reinstates an account', { skip }, async () => {
  if (browser === null) return
  const { page } = await visitOf(browser, { url, operator_token })
  await page.goto('/operator/tickets')
  await page.getByRole('button', { name: 'Where is my parcel?' }).click()
  await page.getByLabel('Answer').fill('It comes tomorrow.')
  await page.getByRole('button', { name: 'Send the answer' }).click()
  await page.getByRole('listitem').filter({ hasText: 'It comes tomorrow.' }).waitFor()

  await page.goto('/operator/accounts')
  const email = String(
    (await send(url, 'GET', '/v1/accounts/me', { bearer: buyer.key })).body.email,
  )
  await page.getByLabel('E-mail').fill(email)
  const found = page.getByRole('row').filter({ hasText: email })
  for (const [verb, status] of [
    ['Suspend', 403],
    ['Reinstate', 200],
  ] as const) {
    await found.getByRole('button', { name: verb }).click()
    await page.getByRole('dialog').getByRole('button', { name: verb }).click()
    await page.getByRole('dialog').waitFor({ state: 'detached' })
    const reply = await send(url, 'GET', '/v1/accounts/me', { bearer: buyer.key })
    assert.equal(reply.status, status, verb)
  }
})

test('every page of the console fits, is quiet, and everybody can use it', { skip }, async () => {
  if (browser === null) return
  await everyPage(browser, { url, operator_token }, [
    { name: 'operator_figures', path: '/operator', ready: heading('Figures') },
    { name: 'operator_disputes', path: '/operator/disputes', ready: row('Not received') },
    { name: 'operator_tickets', path: '/operator/tickets', ready: row('Where is my parcel?') },
    { name: 'operator_withdrawals', path: '/operator/withdrawals', ready: heading('Withdrawals') },
    { name: 'operator_suspense', path: '/operator/suspense', ready: heading('Suspense') },
    { name: 'operator_accounts', path: '/operator/accounts', ready: heading('Accounts') },
    { name: 'operator_cards', path: '/operator/cards', ready: heading('Cards') },
    {
      name: 'operator_kill_switches',
      path: '/operator/kill_switches',
      ready: row('Stop topups'),
    },
    { name: 'operator_maintenance', path: '/operator/maintenance', ready: heading('Maintenance') },
    {
      name: 'operator_reconciliation',
      path: '/operator/reconciliation',
      ready: (page) => page.getByText('Every proof holds.').waitFor(),
    },
    { name: 'operator_health', path: '/operator/health', ready: heading('Health') },
  ])
})
