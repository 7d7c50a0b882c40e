import assert from 'node:assert/strict'
import { test } from 'node:test'
import '#panel/test_support/browser_globals.ts'
import { createElement } from 'react'
import { useOperationQuery } from '#panel/queries.ts'
import { refuse, serve } from '#panel/test_support/network.ts'
import { open } from '#panel/test_support/page.ts'
import { sample } from '#panel/test_support/samples.ts'
import { CardActions } from './card_actions.tsx'

const card = sample('get_card', { name: 'Travel', status: 'active', balance_usd: 40, held_usd: 5 })
const frozen = { ...card, status: 'frozen' as const }

/** As on the page of the card, where the card comes from a query. */
function Loaded() {
  const loaded = useOperationQuery('get_card', { id: card.id }).data
  return loaded === undefined ? null : createElement(CardActions, { card: loaded })
}

test('freezing sends one request and offers to unfreeze', async (t) => {
  const service = serve(t, { get_card: card, freeze_card: frozen })
  const page = await open(t, Loaded, {})
  service.answer({ get_card: frozen })
  await page.click('button', 'Freeze')
  assert.deepEqual(service.sent('freeze_card'), [{ id: card.id }])
  assert(page.has('button', 'Unfreeze'))
})

test('a refused freeze shows why, and the card as it was', async (t) => {
  serve(t, { get_card: card, freeze_card: refuse('card_cancelled', 'This card is canceled.') })
  const page = await open(t, Loaded, {})
  await page.click('button', 'Freeze')
  assert(page.has('button', 'Freeze'))
  assert.deepEqual(page.toasts(), ['This card is canceled.'])
})

test('a frozen card can be unfrozen', async (t) => {
  const service = serve(t, { get_card: frozen, unfreeze_card: card })
  const page = await open(t, Loaded, {})
  service.answer({ get_card: card })
  await page.click('button', 'Unfreeze')
  assert.deepEqual(service.sent('unfreeze_card'), [{ id: card.id }])
  assert(page.has('button', 'Freeze'))
})

test('canceling asks first, names the balance that returns, and can be dismissed', async (t) => {
  const service = serve(t, { cancel_card: { ...card, status: 'cancelled' } })
  const page = await open(t, CardActions, { card })
  await page.click('button', 'More actions')
  await page.click('menuitem', 'Cancel card')
  assert.match(page.in('dialog').text(), /\$40\.00 returns.*\$5\.00 stays on hold/)
  await page.click('button', 'Keep card')
  assert(!page.has('dialog'))
  assert.deepEqual(service.sent('cancel_card'), [])
  await page.click('button', 'More actions')
  await page.click('menuitem', 'Cancel card')
  await page.click('button', 'Cancel card')
  assert.deepEqual(service.sent('cancel_card'), [{ id: card.id }])
  assert(!page.has('dialog'))
})

test('a dialog that a menu opened gives the focus back to the button of the menu', async (t) => {
  serve(t, {})
  const page = await open(t, CardActions, { card })
  await page.click('button', 'More actions')
  await page.click('menuitem', 'Cancel card')
  await page.press('Escape')
  const button = page.get('button', 'More actions')
  await page.until(() => document.activeElement === button)
  assert(!page.has('dialog'))
})

test('a dialog that is opened again does not show the error of the last time', async (t) => {
  serve(t, { cancel_card: refuse('card_cancelled', 'This card is canceled.') })
  const page = await open(t, CardActions, { card })
  const openDialog = async () => {
    await page.click('button', 'More actions')
    await page.click('menuitem', 'Cancel card')
  }
  await openDialog()
  await page.click('button', 'Cancel card')
  assert(page.has('alert'))
  await page.click('button', 'Keep card')
  await openDialog()
  assert(!page.has('alert'))
  await page.click('button', 'Cancel card')
  assert(page.has('alert'))
})

test('a replacement opens the new card; if it is refused, the dialog says why', async (t) => {
  const service = serve(t, { replace_card: refuse('cards_limit_reached', 'You have 50 cards.') })
  const page = await open(t, CardActions, { card }, { path: `/cards/${card.id}` })
  await page.click('button', 'More actions')
  await page.click('menuitem', 'Replace card')
  await page.click('button', 'Replace card')
  assert.match(page.in('dialog').get('alert').textContent ?? '', /You have 50 cards\./)
  const id = card.id.replace(/.$/, '2')
  service.answer({ replace_card: { ...card, id } })
  await page.click('button', 'Replace card')
  assert.equal(page.path(), `/cards/${id}`)
})

test('a canceled card has no actions', async (t) => {
  const page = await open(t, CardActions, { card: { ...card, status: 'cancelled' } })
  assert.deepEqual(page.names('button'), [])
})
