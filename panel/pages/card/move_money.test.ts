import assert from 'node:assert/strict'
import { test } from 'node:test'
import '#panel/test_support/browser_globals.ts'
import { no_response, refuse, serve } from '#panel/test_support/network.ts'
import { open } from '#panel/test_support/page.ts'
import { sample } from '#panel/test_support/samples.ts'
import { MoveMoney } from './move_money.tsx'

const card = sample('get_card', { name: 'Travel', balance_usd: 80.5, status: 'active' })
const get_balance = sample('get_balance', { balance_usd: 200 })

test('a load sends the amount as typed, closes the dialog and confirms it', async (t) => {
  const load_card = sample('load_card', { amount_usd: 1250.5 })
  const service = serve(t, { get_balance, load_card })
  const page = await open(t, MoveMoney, { card })
  await page.click('button', 'Load')
  await page.fill('Amount', '1,250.50')
  await page.click('button', 'Load')
  assert.deepEqual(service.sent('load_card'), [{ id: card.id, amount_usd: 1250.5 }])
  assert(!page.has('dialog'))
  assert.deepEqual(page.toasts(), ['$1,250.50 loaded to Travel.'])
})

test('a refused amount is shown at the amount field and the dialog stays open', async (t) => {
  serve(t, { get_balance, load_card: refuse('insufficient_balance', 'Your balance is $200.00.') })
  const page = await open(t, MoveMoney, { card })
  await page.click('button', 'Load')
  await page.fill('Amount', '300')
  await page.click('button', 'Load')
  assert.equal(page.errorOf('Amount'), 'Your balance is $200.00.')
  assert(page.has('dialog', 'Load card'))
  assert.equal(document.activeElement, page.get('textbox', 'Amount'))
})

test('two clicks that a busy browser delivers right after each other load once', async (t) => {
  const service = serve(t, { get_balance, load_card: sample('load_card', { amount_usd: 50 }) })
  const page = await open(t, MoveMoney, { card })
  await page.click('button', 'Load')
  await page.fill('Amount', '50')
  const button = page.get('button', 'Load')
  button.click()
  // Between two events a browser runs microtasks, and timers only when it has time.
  for (let tasks = 0; tasks < 20; tasks += 1) await Promise.resolve()
  button.click()
  await page.settle()
  assert.deepEqual(service.sent('load_card'), [{ id: card.id, amount_usd: 50 }])
})

test('an amount with a comma for decimals is not sent', async (t) => {
  const service = serve(t, { get_balance })
  const page = await open(t, MoveMoney, { card })
  await page.click('button', 'Load')
  await page.fill('Amount', '25,50')
  await page.click('button', 'Load')
  assert.deepEqual(service.sent('load_card'), [])
  assert(page.has('dialog', 'Load card'))
})

test('unloading everything names no amount, so that a purchase in between does not fail it', async (t) => {
  const service = serve(t, { unload_card: sample('unload_card', { amount_usd: 80.5 }) })
  const page = await open(t, MoveMoney, { card })
  await page.click('button', 'Unload')
  await page.click('button', 'Unload all')
  assert.equal(page.valueOf('Amount'), '80.5')
  await page.click('button', 'Unload')
  assert.deepEqual(service.sent('unload_card'), [{ id: card.id }])
  assert(!page.has('dialog'))
})

test('a refused unload is shown at its field, and Cancel closes the dialog', async (t) => {
  const refusal = refuse('insufficient_card_balance', 'The card has $80.50.')
  const service = serve(t, { unload_card: refusal })
  const page = await open(t, MoveMoney, { card })
  await page.click('button', 'Unload')
  await page.fill('Amount', '90')
  await page.click('button', 'Unload')
  assert.deepEqual(service.sent('unload_card'), [{ id: card.id, amount_usd: 90 }])
  assert.equal(page.errorOf('Amount'), 'The card has $80.50.')
  await page.click('button', 'Cancel')
  assert(!page.has('dialog'))
})

test('a canceled card takes no money, and an empty one gives none', async (t) => {
  const page = await open(t, MoveMoney, { card: { ...card, status: 'cancelled', balance_usd: 0 } })
  assert.equal((page.get('button', 'Load') as HTMLButtonElement).disabled, true)
  assert.equal((page.get('button', 'Unload') as HTMLButtonElement).disabled, true)
})

test('a balance that is not known yet is not shown as $0.00', async (t) => {
  serve(t, { get_balance: no_response })
  const page = await open(t, MoveMoney, { card })
  await page.click('button', 'Load')
  assert.doesNotMatch(page.in('dialog').text(), /available/)
})
