import assert from 'node:assert/strict'
import { test } from 'node:test'
import { TOTP } from 'otpauth'
import { createOperatorToken } from '#domain/operators/operator_token.ts'
import type { Page } from '#test/packages/playwright.ts'
import { authorize, registerAgent, startAgentService } from '#test/support/agent.ts'
import { getCard } from '#test/support/cards.ts'
import { clearInYen } from '#test/support/clearings.ts'
import { fileDispute, getDispute, openBuyer } from '#test/support/disputes.ts'
import { eventually } from '#test/support/eventually.ts'
import { send } from '#test/support/http.ts'
import { operate, OPERATOR_TOKEN as operator_token } from '#test/support/operator.ts'
import { everyPage, NO_BROWSER, startBrowser, visitOf } from '#test/support/panel_page.ts'
import { respondWith, startReceiver } from '#test/support/receiver.ts'
import { openSpender } from '#test/support/spending.ts'
import { makeEvent, subscribe } from '#test/support/webhooks.ts'

const service = await startAgentService()
const { url } = service
const browser = await startBrowser()
const skip = browser === null ? NO_BROWSER : false
const buyer = await openBuyer(service)
const dispute = await fileDispute(url, buyer)
await send(url, 'POST', '/v1/tickets', {
  bearer: buyer.key,
  body: {
    subject: 'Where is my parcel?',
    message: 'It was due on Monday.',
    category: 'card',
    card_id: buyer.card.id,
    transaction_id: buyer.capture.id,
  },
})

/** Adds an endpoint that fails, and waits until the operator API lists it. */
async function failingEndpoint(): Promise<void> {
  const receiver = await startReceiver()
  receiver.respond = respondWith(500)
  await subscribe(url, buyer, { url: receiver.url })
  await makeEvent(url, buyer)
  const isKnown = async () =>
    (await operate(url, 'GET', '/webhooks')).body['data'].some(
      (webhook: { url: string }) => webhook.url === receiver.url,
    )
  assert(await eventually(isKnown, { within_ms: 20_000 }))
}

const heading = (name: string) => (page: Page) =>
  page.getByRole('heading', { name, level: 1 }).waitFor()
const row = (name: string) => (page: Page) => page.getByRole('button', { name }).waitFor()

test('an operator records the merchant’s response to a dispute and decides it', {
  skip,
}, async () => {
  if (browser === null) return
  const { page, complaints } = await visitOf(browser, { url })
  await page.goto('/operator')
  await page.getByLabel('Operator token').fill(operator_token)
  await page.getByRole('button', { name: 'Sign in' }).click()
  await page.getByRole('link', { name: 'Disputes' }).click()
  await page.getByRole('button', { name: 'Corner Books' }).click()
  await page.getByLabel('Merchant response').fill('It was signed for.')
  await page.getByRole('button', { name: 'Record response' }).click()
  await page.getByText('Dispute updated.').waitFor()
  assert.equal((await getDispute(url, buyer.key, dispute.id)).status, 'answered')

  await page.getByRole('button', { name: 'Customer loses' }).click()
  await page.getByRole('dialog', { name: 'Close dispute?' }).getByText('can’t undo').waitFor()
  await page.getByRole('button', { name: 'Cancel' }).click()
  assert.equal((await getDispute(url, buyer.key, dispute.id)).status, 'answered')

  await page.getByRole('button', { name: 'Customer wins' }).click()
  const question = page.getByRole('dialog', { name: 'Close dispute?' })
  await question.getByRole('button', { name: 'Customer wins' }).click()
  await question.waitFor({ state: 'detached' })
  const { status, outcome, response } = await getDispute(url, buyer.key, dispute.id)
  assert.deepEqual([status, outcome], ['closed', 'won'])
  assert.equal(response?.text, 'It was signed for.')
  assert.deepEqual(complaints, [])
})

test('a token with two-factor authentication asks for the code and refuses a wrong one', {
  skip,
}, async () => {
  if (browser === null) return
  const { runtime } = service
  const totp = new TOTP()
  const { token } = await createOperatorToken(
    runtime.db,
    { name: 'Kay', role: 'viewer' },
    {
      random: runtime.random,
      keys: runtime.keys,
      now: runtime.clock.now(),
      livemode: false,
      days: 1,
      totp_secret: totp.secret.base32,
    },
  )
  const { page } = await visitOf(browser, { url })
  await page.goto('/operator')
  assert.equal(await page.getByLabel('Authentication code').count(), 0)
  await page.getByLabel('Operator token').fill(token.open())
  const signIn = page.getByRole('button', { name: 'Sign in' })
  await signIn.click()
  const field = page.getByLabel('Authentication code')
  await field.fill('000000')
  await signIn.click()
  await page.getByRole('alert').waitFor()
  await field.fill(totp.generate())
  await signIn.click()
  await page.getByRole('link', { name: 'Disputes' }).waitFor()
})

test('a ticket opened in the panel is answered in the console, and the panel shows the reply', {
  skip,
}, async () => {
  if (browser === null) return
  const panel = await visitOf(browser, { url, bearer: buyer.bearer, width: 360 })
  await panel.page.clock.install()
  await panel.page.goto('/tickets')
  await panel.page.getByRole('button', { name: 'New ticket' }).click()
  // A word longer than the screen must not make the page wider.
  await panel.page.getByLabel('Subject').fill(`Paid twice? ${'x'.repeat(60)}`)
  await panel.page.getByLabel('Message').fill('Corner Books shows up two times.')
  await panel.page.getByRole('button', { name: 'Send' }).click()
  await panel.page.getByRole('heading', { name: 'Paid twice?' }).waitFor()
  await panel.page.getByText('We got your message.').waitFor()
  assert.equal(await panel.page.evaluate('document.documentElement.scrollWidth'), 360)

  const { page } = await visitOf(browser, { url, operator_token })
  await page.goto('/operator/tickets')
  await page.getByRole('button', { name: 'Paid twice?' }).click()
  await page.getByRole('listitem').filter({ hasText: 'two times' }).waitFor()
  await page.getByLabel('Reply').fill('One of them is the hold; it is gone by now.')
  await page.getByLabel('Set status to').selectOption('Resolved')
  await page.getByRole('button', { name: 'Send reply' }).click()
  await page.getByRole('listitem').filter({ hasText: 'it is gone by now' }).waitFor()

  // The page polls without a reload.
  await panel.page.clock.fastForward(10_000)
  const answer = panel.page.getByRole('list', { name: 'Messages' }).getByRole('listitem')
  await answer.filter({ hasText: 'Support' }).filter({ hasText: 'it is gone by now' }).waitFor()
  await panel.page.getByText('This ticket is resolved.').waitFor()
  assert.deepEqual(panel.complaints, [])
})

test('a ticket leads to its account, card and transaction', { skip }, async () => {
  if (browser === null) return
  const { page, complaints } = await visitOf(browser, { url, operator_token })
  const open = async (link: string) => {
    await page.goto('/operator/tickets')
    await page.getByRole('button', { name: 'Where is my parcel?' }).click()
    await page.getByRole('link', { name: link }).click()
  }
  const rows = page.getByRole('table').getByRole('row')
  const assertOne = async (text: string) => {
    await rows.filter({ hasText: text }).waitFor()
    assert.equal(await rows.count(), 2, 'the header and one row')
  }
  const account = await send(url, 'GET', '/v1/accounts/me', { bearer: buyer.key })
  await open(String(account.body.email))
  await page.waitForURL(`**/operator/accounts/${buyer.account_id}`)
  await page.getByText(buyer.account_id).waitFor()
  await open('View card')
  await assertOne(buyer.card.last4)
  await open('View transaction')
  await assertOne(buyer.capture.id)
  await page.getByRole('button', { name: 'Show all' }).click()
  await rows.nth(2).waitFor()
  await page.getByRole('link', { name: 'View card' }).first().click()
  await assertOne(buyer.card.last4)
  assert.deepEqual(complaints, [])
})

test('an operator suspends and reinstates an account', { skip }, async () => {
  if (browser === null) return
  const { page } = await visitOf(browser, { url, operator_token })
  await page.goto('/operator/accounts')
  const email = String(
    (await send(url, 'GET', '/v1/accounts/me', { bearer: buyer.key })).body.email,
  )
  await page.getByLabel('Email').fill(email)
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
  await page.getByRole('link', { name: email }).click()
  await page.getByRole('heading', { name: email }).waitFor()
  await page.getByRole('row').filter({ hasText: buyer.card.last4 }).waitFor()
  await page.getByLabel('New note').fill('Called about a lost parcel')
  await page.getByRole('button', { name: 'Save note' }).click()
  const note = page.getByRole('list', { name: 'Notes' }).getByRole('listitem')
  await note.getByText('Called about a lost parcel').waitFor()
  assert.match(await note.innerText(), /^Setup token · /m, 'it names its author')
  await page.reload()
  await note.getByText('Called about a lost parcel').waitFor()
})

test('an operator revokes an agent’s access immediately', { skip }, async () => {
  if (browser === null) return
  const agent = await registerAgent(url, { client_name: 'Careless agent' })
  const { access_token } = await authorize(agent, buyer, { resource: `${url}/v1` })
  const status = async () =>
    (await send(url, 'GET', '/v1/accounts/me', { bearer: access_token })).status
  assert.equal(await status(), 200)
  const { page } = await visitOf(browser, { url, operator_token })
  await page.goto('/operator/agents')
  await page.getByLabel('Account ID', { exact: true }).fill(buyer.account_id)
  await page.getByRole('button', { name: 'Revoke Careless agent' }).click()
  await page.getByRole('dialog').getByRole('button', { name: 'Revoke' }).click()
  await page.getByText('Access revoked for Careless agent.').waitFor()
  assert.equal(await status(), 401)
  await page.getByLabel('Status').selectOption('Revoked')
  await page.getByRole('row').filter({ hasText: 'Careless agent' }).getByText('Revoked').waitFor()
})

test('an operator enters the USD amount of a foreign clearing, and it is posted', {
  skip,
}, async () => {
  if (browser === null) return
  const spender = await openSpender(service, { usd: 50 })
  await clearInYen(service, spender)
  const { page, complaints } = await visitOf(browser, { url, operator_token })
  await page.goto('/operator/clearings')
  await page.getByRole('button', { name: 'Enter USD amount: Test Shop, ¥1,500' }).click()
  const dialog = page.getByRole('dialog')
  await dialog.getByLabel('USD amount').fill('10.005')
  await dialog.getByRole('button', { name: 'Save' }).click()
  await dialog.getByText('Must have at most 2 decimal places.', { exact: true }).waitFor()
  assert.equal(complaints.splice(0).length, 1, 'the browser logs the 422')
  await dialog.getByLabel('USD amount').fill('10.05')
  await dialog.getByRole('button', { name: 'Save' }).click()
  await dialog.waitFor({ state: 'detached' })
  await service.sandbox_host.runTasks(['settle_clearings'])
  assert.equal((await getCard(url, spender.key, spender.card.id)).balance_usd, 39.95)
  await page.reload()
  await page.getByText('No clearings awaiting conversion').waitFor()
  assert.deepEqual(complaints, [])
})

test('every console page fits, logs no errors and is accessible', { skip }, async () => {
  if (browser === null) return
  await clearInYen(service, await openSpender(service))
  await authorize(await registerAgent(url), buyer)
  await failingEndpoint()
  await service.runtime.db.run(
    `insert into proof_findings (proof, account_id, object_id, sentence, first_seen_at,
                                 last_seen_at)
     values ('every balance equals its entries', $1, $2, 'The hold purse has $1.', now(), now())`,
    [buyer.account_id, buyer.card.id],
  )
  await everyPage(browser, { url, operator_token }, [
    { name: 'operator_overview', path: '/operator', ready: heading('Overview') },
    { name: 'operator_disputes', path: '/operator/disputes', ready: row('Corner Books') },
    { name: 'operator_tickets', path: '/operator/tickets', ready: row('Where is my parcel?') },
    { name: 'operator_withdrawals', path: '/operator/withdrawals', ready: heading('Withdrawals') },
    { name: 'operator_suspense', path: '/operator/suspense', ready: heading('Suspense') },
    { name: 'operator_clearings', path: '/operator/clearings', ready: row('Enter USD amount') },
    {
      name: 'operator_price_clearing',
      path: '/operator/clearings',
      ready: async (page) => {
        await page.getByRole('button', { name: 'Enter USD amount' }).click()
        await page.getByRole('dialog').getByLabel('USD amount').waitFor()
      },
    },
    { name: 'operator_refunds', path: '/operator/refunds', ready: heading('Refunds') },
    { name: 'operator_accounts', path: '/operator/accounts', ready: heading('Accounts') },
    {
      name: 'operator_account',
      path: `/operator/accounts/${buyer.account_id}`,
      ready: (page) => page.getByText(buyer.card.last4).first().waitFor(),
    },
    { name: 'operator_cards', path: '/operator/cards', ready: heading('Cards') },
    {
      name: 'operator_transactions',
      path: `/operator/transactions?account_id=${buyer.account_id}`,
      ready: (page) => page.getByText(buyer.capture.id).waitFor({ state: 'attached' }),
    },
    {
      name: 'operator_ticket',
      path: '/operator/tickets',
      ready: async (page) => {
        await page.getByRole('button', { name: 'Where is my parcel?' }).click()
        await page.getByRole('link', { name: 'View transaction' }).waitFor()
      },
    },
    { name: 'operator_agents', path: '/operator/agents', ready: row('Revoke Test agent') },
    {
      name: 'operator_webhooks',
      path: '/operator/webhooks',
      ready: (page) => page.getByText('Failing', { exact: true }).waitFor(),
    },
    {
      name: 'operator_kill_switches',
      path: '/operator/kill_switches',
      ready: row('Stop topups'),
    },
    { name: 'operator_maintenance', path: '/operator/maintenance', ready: heading('Maintenance') },
    {
      name: 'operator_reconciliation',
      path: '/operator/reconciliation',
      ready: (page) => page.getByText('The hold purse has $1.').waitFor(),
    },
    { name: 'operator_health', path: '/operator/health', ready: heading('Health') },
  ])
})
