import assert from 'node:assert/strict'
import { test } from 'node:test'
import '#panel/test_support/browser_globals.ts'
import { serve } from '#panel/test_support/network.ts'
import { open } from '#panel/test_support/page.ts'
import { page as pageOf, row, sample } from '#panel/test_support/samples.ts'
import { CardTransactions } from './card_transactions.tsx'

const card = sample('get_card')

test('only transactions of the card are asked for, and a row opens its transaction', async (t) => {
  const purchase = row('list_card_transactions', { merchant_name: 'Corner Grocery' })
  const service = serve(t, {
    list_card_transactions: pageOf([purchase]),
    list_disputes: pageOf([]),
  })
  const page = await open(t, CardTransactions, { card }, { path: `/cards/${card.id}` })
  assert.deepEqual(service.sent('list_card_transactions'), [{ id: card.id }])
  const link = page.all('link')[0]
  assert.equal(link?.getAttribute('href'), `/transactions/${purchase.id}`)
  if (link !== undefined) await page.clickOn(link)
  assert.equal(page.path(), `/transactions/${purchase.id}`)
})

test('without transactions the section says what will appear', async (t) => {
  serve(t, { list_card_transactions: pageOf([]), list_disputes: pageOf([]) })
  const page = await open(t, CardTransactions, { card })
  assert.match(page.text(), /No transactions yet/)
})
