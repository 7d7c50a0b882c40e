import assert from 'node:assert/strict'
import { test } from 'node:test'
import '#panel/test_support/browser_globals.ts'
import { type Answers, refuse, serve } from '#panel/test_support/network.ts'
import { open } from '#panel/test_support/page.ts'
import { page as pageOf, row, sample } from '#panel/test_support/samples.ts'
import { AccountPage } from './account.tsx'

const account = sample('operator_get_account', { status: 'active', email: 'ada@example.com' })
const lists: Answers = {
  operator_list_cards: pageOf([]),
  operator_list_transactions: pageOf([]),
  operator_list_withdrawals: pageOf([]),
  operator_list_disputes: pageOf([]),
  operator_list_tickets: pageOf([]),
  operator_list_notes: pageOf([]),
}

test('the page lists only what belongs to this account', async (t) => {
  const cards = pageOf([row('operator_list_cards', { name: 'Travel' })])
  const answers = { ...lists, operator_get_account: account, operator_list_cards: cards }
  const service = serve(t, answers)
  const page = await open(t, AccountPage, { id: account.id })
  assert(page.has('heading', 'ada@example.com'))
  assert.match(page.in('table', 'Cards').text(), /Travel/)
  for (const name of ['cards', 'transactions', 'withdrawals', 'disputes', 'tickets'] as const) {
    const [input] = service.sent(`operator_list_${name}`)
    assert.equal(input?.['account_id'], account.id, name)
  }
})

test('the page shows a suspension as soon as it is made', async (t) => {
  const suspended = { ...account, status: 'suspended' as const }
  const service = serve(t, {
    ...lists,
    operator_get_account: account,
    operator_suspend_account: suspended,
  })
  const page = await open(t, AccountPage, { id: account.id })
  await page.click('button', 'Suspend')
  service.answer({ operator_get_account: suspended })
  await page.clickOn(page.in('dialog').get('button', 'Suspend'))
  assert(page.has('button', 'Reinstate'))
})

test('canceling a card updates the balance beside it', async (t) => {
  const card = row('operator_list_cards', { name: 'Travel', status: 'active', balance_usd: 40 })
  const service = serve(t, {
    ...lists,
    operator_get_account: { ...account, balance_usd: 100 },
    operator_list_cards: pageOf([card]),
    operator_cancel_card: sample('operator_cancel_card'),
  })
  const page = await open(t, AccountPage, { id: account.id })
  assert.match(page.text(), /Balance \$100\.00/)
  await page.click('button', /^Cancel card: Travel/)
  service.answer({ operator_get_account: { ...account, balance_usd: 140 } })
  await page.clickOn(page.in('dialog').get('button', 'Cancel card'))
  assert.match(page.text(), /Balance \$140\.00/)
})

test('a suspension is shown at the withdrawals that it stops', async (t) => {
  const withdrawal = row('operator_list_withdrawals', { in_review: true, status_reason: 'review' })
  const stopped = { ...withdrawal, status_reason: 'account_suspended' }
  const service = serve(t, {
    ...lists,
    operator_get_account: account,
    operator_list_withdrawals: pageOf([withdrawal]),
    operator_suspend_account: account,
  })
  const page = await open(t, AccountPage, { id: account.id })
  assert.match(page.in('table', 'Withdrawals').text(), /Needs review/)
  await page.click('button', 'Suspend')
  service.answer({ operator_list_withdrawals: pageOf([stopped]) })
  await page.clickOn(page.in('dialog').get('button', 'Suspend'))
  assert.match(page.in('table', 'Withdrawals').text(), /Suspended/)
})

test('an account that does not exist says so', async (t) => {
  serve(t, { operator_get_account: refuse('not_found', 'No such account.') })
  const page = await open(t, AccountPage, { id: account.id })
  assert.match(page.text(), /Account not found/)
})

test('recipient_column: a withdrawal of the account shows its whole address', async (t) => {
  const withdrawal = row('operator_list_withdrawals')
  const operator_list_withdrawals = pageOf([withdrawal])
  serve(t, { ...lists, operator_get_account: account, operator_list_withdrawals })
  const page = await open(t, AccountPage, { id: account.id })
  assert(page.in('table', 'Withdrawals').text().includes(withdrawal.address))
  assert(page.has('button', 'Copy address'))
})
