import assert from 'node:assert/strict'
import { test } from 'node:test'
import '#panel/test_support/browser_globals.ts'
import { useTestClock } from '#panel/test_support/clock.ts'
import { serve } from '#panel/test_support/network.ts'
import { open } from '#panel/test_support/page.ts'
import { page as pageOf, row, sample } from '#panel/test_support/samples.ts'
import { Accounts } from './accounts.tsx'
import { Agents } from './agents.tsx'
import { Cards } from './cards.tsx'
import { Disputes } from './disputes.tsx'
import { Tickets } from './tickets.tsx'
import { Transactions } from './transactions.tsx'
import { Webhooks } from './webhooks.tsx'

test('accounts, search_bar: a search is sent when typing pauses, and kept in the address', async (t) => {
  useTestClock(t)
  const account = row('operator_list_accounts', { email: 'ada@example.com', owed_usd: 5 })
  const service = serve(t, { operator_list_accounts: pageOf([account]) })
  const page = await open(t, Accounts, {}, { path: '/accounts' })
  await page.fill('Email', 'ada@example.com')
  assert.equal(service.calls.length, 1)
  await page.pass(400)
  assert.deepEqual(service.sent('operator_list_accounts').at(-1), { email: 'ada@example.com' })
  assert.equal(page.path(), '/accounts?email=ada%40example.com')
  assert.match(page.text(), /Owes \$5\.00/)
})

test('accounts: a suspended account can be reinstated', async (t) => {
  const account = row('operator_list_accounts', { status: 'suspended' })
  const service = serve(t, {
    operator_list_accounts: pageOf([account]),
    operator_reinstate_account: { ...account, status: 'active' },
  })
  const page = await open(t, Accounts, {})
  await page.click('button', 'Reinstate')
  await page.clickOn(page.in('dialog').get('button', 'Reinstate'))
  assert.deepEqual(service.sent('operator_reinstate_account'), [{ id: account.id }])
})

test('agents: half an account ID is not sent, and an active agent can be revoked', async (t) => {
  useTestClock(t)
  const grant = row('operator_list_grants', { status: 'active', client_name: 'Shopper' })
  const service = serve(t, {
    operator_list_grants: pageOf([grant]),
    operator_revoke_grant: sample('operator_revoke_grant'),
  })
  const page = await open(t, Agents, {})
  await page.fill('Account ID', 'acct_01')
  await page.pass(400)
  assert(service.sent('operator_list_grants').every((input) => !('account_id' in input)))
  await page.click('button', 'Revoke Shopper')
  await page.clickOn(page.in('dialog').get('button', 'Revoke'))
  assert.deepEqual(service.sent('operator_revoke_grant'), [{ id: grant.id }])
})

test('cards: fewer than four digits are not searched for', async (t) => {
  useTestClock(t)
  const service = serve(t, { operator_list_cards: pageOf([]) })
  const page = await open(t, Cards, {})
  await page.fill('Last 4 digits', '42')
  await page.pass(400)
  assert.deepEqual(service.sent('operator_list_cards').at(-1), {})
  await page.fill('Last 4 digits', '4242')
  await page.pass(400)
  assert.deepEqual(service.sent('operator_list_cards').at(-1), { last4: '4242' })
  assert.match(page.text(), /No cards found/)
})

test('cards: a card is frozen, unfrozen or canceled after a question; a canceled one has no actions', async (t) => {
  const card = row('operator_list_cards', { name: 'Travel', last4: '4242', status: 'active' })
  const ids = [1, 2, 3].map((at) => card.id.replace(/.$/, String(at)))
  const [id_1 = '', id_2 = '', id_3 = ''] = ids
  const service = serve(t, {
    operator_list_cards: pageOf([
      { ...card, id: id_1 },
      { ...card, id: id_2, status: 'frozen', name: 'Frozen one' },
      { ...card, id: id_3, status: 'cancelled', name: 'Old' },
    ]),
    operator_freeze_card: sample('operator_freeze_card'),
    operator_unfreeze_card: sample('operator_unfreeze_card'),
    operator_cancel_card: sample('operator_cancel_card'),
  })
  const page = await open(t, Cards, {})
  await page.click('button', 'Freeze Travel ·· 4242')
  await page.clickOn(page.in('dialog').get('button', 'Freeze'))
  await page.click('button', 'Unfreeze Frozen one ·· 4242')
  await page.clickOn(page.in('dialog').get('button', 'Unfreeze'))
  await page.click('button', 'Cancel card: Travel ·· 4242')
  await page.clickOn(page.in('dialog').get('button', 'Cancel card'))
  assert.deepEqual(service.sent('operator_freeze_card'), [{ id: id_1 }])
  assert.deepEqual(service.sent('operator_unfreeze_card'), [{ id: id_2 }])
  assert.deepEqual(service.sent('operator_cancel_card'), [{ id: id_1 }])
  assert(!page.has('button', /Old/))
})

test('disputes, row_button: a row opens its sheet, and the sheet follows the list', async (t) => {
  const dispute = row('operator_list_disputes', { merchant_name: 'Bahn', status: 'open' })
  const service = serve(t, {
    operator_list_disputes: pageOf([dispute]),
    operator_answer_dispute: sample('operator_answer_dispute'),
  })
  const page = await open(t, Disputes, {})
  await page.click('button', 'Bahn')
  await page.fill('Merchant response or decision note', 'Delivered.')
  service.answer({ operator_list_disputes: pageOf([{ ...dispute, status: 'closed' }]) })
  await page.click('button', 'Record response')
  assert(!page.in('dialog', 'Bahn').has('button', 'Customer wins'))
  await page.press('Escape')
  assert(!page.has('dialog'))
})

test('tickets: a row opens its messages, and the status filter is sent', async (t) => {
  const ticket = row('operator_list_tickets', { subject: 'Card declined' })
  const service = serve(t, { operator_list_tickets: pageOf([ticket]) })
  const page = await open(t, Tickets, {})
  await page.click('button', 'Card declined')
  assert(page.has('dialog', 'Card declined'))
  await page.press('Escape')
  await page.fill('Status', 'resolved')
  assert.deepEqual(service.sent('operator_list_tickets').at(-1), { status: 'resolved' })
})

test('transactions, card_link: nothing is asked for without an account, and its own only with one', async (t) => {
  useTestClock(t)
  const transaction = row('operator_list_transactions', { merchant_name: 'Bahn' })
  const { account_id, card_id } = transaction
  const service = serve(t, { operator_list_transactions: pageOf([transaction]) })
  const page = await open(t, Transactions, {}, { path: '/transactions' })
  assert.match(page.text(), /Choose an account/)
  assert.deepEqual(service.calls, [])
  await page.fill('Account ID', account_id)
  await page.pass(400)
  assert.deepEqual(service.sent('operator_list_transactions'), [{ account_id }])
  const href = page.get('link', 'View card').getAttribute('href')
  assert.equal(href, `/cards?account_id=${account_id}&card_id=${card_id}`)
})

test('transactions: "Show all" drops the filter for one transaction', async (t) => {
  const transaction = row('operator_list_transactions')
  const { account_id, id } = transaction
  const service = serve(t, { operator_list_transactions: pageOf([transaction]) })
  const path = `/transactions?account_id=${account_id}&transaction_id=${id}`
  const page = await open(t, Transactions, {}, { path })
  await page.click('button', 'Show all')
  assert.deepEqual(service.sent('operator_list_transactions').at(-1), { account_id })
})

test('webhooks, account_link: a failing endpoint names its customer and since when it fails', async (t) => {
  const webhook = row('operator_list_failing_webhooks', { status: 'enabled' })
  serve(t, { operator_list_failing_webhooks: pageOf([webhook]) })
  const page = await open(t, Webhooks, {})
  assert.match(page.in('table').text(), /Failing/)
  const links = page.all('link').map((link) => link.getAttribute('href'))
  assert(links.includes(`/accounts/${webhook.account_id}`))
})
