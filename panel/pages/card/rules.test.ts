import assert from 'node:assert/strict'
import { test } from 'node:test'
import '#panel/test_support/browser_globals.ts'
import { refuse, serve } from '#panel/test_support/network.ts'
import { open } from '#panel/test_support/page.ts'
import { sample } from '#panel/test_support/samples.ts'
import { Rules } from './rules.tsx'

const none = { allow: null, deny: null }
const card = sample('get_card', { status: 'active', mcc: none, geo: none })

test('a blocked category is found by name, sent by code, and the dialog closes', async (t) => {
  const service = serve(t, { set_mcc_rules: card })
  const page = await open(t, Rules, { card, kind: 'mcc' })
  await page.click('button', 'Edit merchant categories')
  await page.fill('Add blocked merchant categories', '7995')
  await page.press('Enter')
  await page.click('button', 'Save')
  assert.deepEqual(service.sent('set_mcc_rules'), [{ id: card.id, deny: ['7995'] }])
  assert(!page.has('dialog'))
})

test('rule_fields: allowing only selected countries sends an empty list until one is chosen', async (t) => {
  const service = serve(t, { set_card_geo: card })
  const page = await open(t, Rules, { card, kind: 'geo' })
  await page.click('button', 'Edit countries')
  await page.click('switch', 'Allow only selected countries')
  await page.click('button', 'Save')
  assert.deepEqual(service.sent('set_card_geo'), [{ id: card.id, allow: [] }])
})

test('rule_fields: removing the last blocked country removes the rule', async (t) => {
  const service = serve(t, { set_card_geo: card })
  const blocked = { ...card, geo: { allow: null, deny: ['FR'] } }
  const page = await open(t, Rules, { card: blocked, kind: 'geo' })
  assert.match(page.text(), /Blocked France FR/)
  await page.click('button', 'Edit countries')
  await page.click('button', 'Remove France')
  await page.click('button', 'Save')
  assert.deepEqual(service.sent('set_card_geo'), [{ id: card.id, deny: null }])
})

test('saving without a change sends nothing, and a list that was not changed is not sent', async (t) => {
  const service = serve(t, { set_card_geo: card })
  const limited = { ...card, geo: { allow: ['DE'], deny: ['FR'] } }
  const page = await open(t, Rules, { card: limited, kind: 'geo' })
  await page.click('button', 'Edit countries')
  await page.click('button', 'Save')
  assert.deepEqual(service.calls, [])
  await page.click('button', 'Edit countries')
  await page.click('button', 'Remove France')
  await page.click('button', 'Save')
  assert.deepEqual(service.sent('set_card_geo'), [{ id: card.id, deny: null }])
})

test('a refused rule is shown in the dialog, which stays open', async (t) => {
  serve(t, { set_mcc_rules: refuse('invalid_mcc', 'A range begins after its end.') })
  const page = await open(t, Rules, { card, kind: 'mcc' })
  await page.click('button', 'Edit merchant categories')
  await page.fill('Add blocked merchant categories', '6000-5000')
  await page.press('Enter')
  await page.click('button', 'Save')
  assert.match(page.in('dialog').get('alert').textContent ?? '', /A range begins/)
})

test('changes that were canceled are gone when the dialog is opened again', async (t) => {
  const page = await open(t, Rules, { card, kind: 'geo' })
  await page.click('button', 'Edit countries')
  await page.fill('Add blocked countries', 'france')
  await page.press('Enter')
  assert(page.has('button', 'Remove France'))
  await page.click('button', 'Cancel')
  await page.click('button', 'Edit countries')
  assert(!page.has('button', 'Remove France'))
})

test('a card that allows no country says so, and a canceled card has no edit button', async (t) => {
  const closed = { ...card, status: 'cancelled' as const, geo: { allow: [], deny: null } }
  const page = await open(t, Rules, { card: closed, kind: 'geo' })
  assert.match(page.text(), /Allowed None/)
  assert.deepEqual(page.names('button'), [])
})
