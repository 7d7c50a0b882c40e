import assert from 'node:assert/strict'
import { test } from 'node:test'
import '#panel/test_support/browser_globals.ts'
import { createElement } from 'react'
import { type Answers, no_response, refuse, serve } from '#panel/test_support/network.ts'
import { open } from '#panel/test_support/page.ts'
import { page as pageOf, row, sample } from '#panel/test_support/samples.ts'
import { TransactionPage } from './transaction.tsx'

const example = sample('get_transaction', {
  type: 'capture',
  status: 'settled',
  merchant_name: 'Bahn',
  amount: 23.1,
  currency: 'EUR',
  amount_usd: 25.5,
  captured_usd: 25.5,
  refunded_usd: 0,
  dispute_id: null,
  merchant_city: 'BERLIN',
  merchant_country: 'DE',
  decline_code: null,
  failed_rules: [],
})
const answersFor = (transaction: typeof example): Answers => ({
  get_transaction: transaction,
  list_transactions: pageOf([transaction]),
  list_disputes: pageOf([]),
  list_cards: pageOf([row('list_cards', { id: transaction.card_id, name: 'Travel' })]),
})

test('a purchase abroad shows both amounts and its place in normal letters', async (t) => {
  serve(t, answersFor(example))
  const page = await open(t, TransactionPage, { id: example.id })
  assert(page.has('heading', 'Bahn'))
  assert.match(page.text(), /€23\.10 Amount in USD \$25\.50/)
  assert.match(page.text(), /Berlin, Germany/)
  assert(page.has('link', /Travel/))
})

test('a charge without a merchant says so', async (t) => {
  serve(t, answersFor({ ...example, merchant_name: '' }))
  const page = await open(t, TransactionPage, { id: example.id })
  assert(page.has('heading', 'Unknown merchant'))
})

test('a charge can be disputed once; afterwards the page leads to the dispute', async (t) => {
  const service = serve(t, answersFor(example))
  const page = await open(t, TransactionPage, { id: example.id })
  await page.click('button', 'Dispute charge')
  await page.until(() => page.has('dialog', 'Dispute charge'))
  const dispute_id = row('list_disputes').id
  service.answer(answersFor({ ...example, dispute_id }))
  const again = await open(t, TransactionPage, { id: example.id })
  assert(!again.has('button', 'Dispute charge'))
  assert.equal(again.get('link', 'View dispute').getAttribute('href'), `/disputes/${dispute_id}`)
})

const declined = {
  ...example,
  type: 'decline' as const,
  status: 'declined' as const,
  decline_code: 'card_expired',
  decline_message: 'The card has expired.',
  failed_rules: ['card_expired', 'insufficient_funds'],
} as typeof example

test('decline_reason: a decline gives its reason, the date of the card, and what else would have failed', async (t) => {
  const get_card = sample('get_card', { valid_until: '2026-11-01T00:00:00.000Z' })
  serve(t, { ...answersFor(declined), get_card })
  const page = await open(t, TransactionPage, { id: example.id })
  const text = [...document.querySelectorAll('[aria-label="Decline reason"]')][0]?.textContent ?? ''
  assert.match(text, /The card has expired\..*valid until/s)
  assert.equal(document.querySelectorAll('[aria-label="Decline reason"] li').length, 1)
  assert(!page.has('button', 'Dispute charge'))
})

test('iso_message: it is loaded only when it is opened', async (t) => {
  const details = sample('get_auth_details', { fields: { '39': '00' } })
  const service = serve(t, { ...answersFor(example), get_auth_details: details })
  const page = await open(t, TransactionPage, { id: example.id })
  assert.deepEqual(service.sent('get_auth_details'), [])
  await page.click('button', 'Show')
  assert.match(page.in('table', 'Request data elements').text(), /39 Response code 00/)
  await page.click('button', 'Hide')
  assert(!page.has('table', 'Request data elements'))
})

test('iso_message: a transaction without one is no error', async (t) => {
  const get_auth_details = refuse('not_found', 'No such message.')
  serve(t, { ...answersFor(example), get_auth_details })
  const page = await open(t, TransactionPage, { id: example.id })
  await page.click('button', 'Show')
  assert(page.has('button', 'Hide'))
  assert.doesNotMatch(page.text(), /not found/)
})

test('while another transaction loads, the last one is not shown at its address', async (t) => {
  const service = serve(t, answersFor(example))
  const page = await open(t, TransactionPage, { id: example.id })
  assert(page.has('button', 'Dispute charge'))
  service.answer({ get_transaction: no_response })
  const other_id = row('list_transactions').id.replace(/..$/, '00')
  assert.notEqual(other_id, example.id)
  await page.render(createElement(TransactionPage, { id: other_id }))
  assert(!page.has('heading', 'Bahn') && !page.has('button', 'Dispute charge'))
})
