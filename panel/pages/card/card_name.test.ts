import assert from 'node:assert/strict'
import { test } from 'node:test'
import '#panel/test_support/browser_globals.ts'
import { refuse, serve } from '#panel/test_support/network.ts'
import { open } from '#panel/test_support/page.ts'
import { sample } from '#panel/test_support/samples.ts'
import { CardName } from './card_name.tsx'

const card = sample('get_card', { name: 'Travel' })

test('a new name is sent without spaces around it, and an empty one removes the name', async (t) => {
  const service = serve(t, { update_card: card })
  const page = await open(t, CardName, { card })
  for (const name of ['  Groceries ', '   ']) {
    await page.click('button', 'Rename card')
    await page.fill('Card name', name)
    await page.click('button', 'Save')
  }
  const names = service.sent('update_card').map(({ name }) => name)
  assert.deepEqual(names, ['Groceries', null])
})

test('an unchanged name sends nothing, and Escape and Cancel discard the text', async (t) => {
  const service = serve(t, {})
  const page = await open(t, CardName, { card })
  const endings = [
    () => page.click('button', 'Save'),
    () => page.press('Escape'),
    () => page.click('button', 'Cancel'),
  ]
  for (const [at, end] of endings.entries()) {
    await page.click('button', 'Rename card')
    assert.equal(page.valueOf('Card name'), 'Travel')
    if (at > 0) await page.fill('Card name', 'Other')
    await end()
    assert.match(page.text(), /^Travel/)
  }
  assert.deepEqual(service.calls, [])
})

test('a refused name is reported and can be corrected', async (t) => {
  serve(t, { update_card: refuse('card_cancelled', 'This card is canceled.') })
  const page = await open(t, CardName, { card })
  await page.click('button', 'Rename card')
  await page.fill('Card name', 'Other')
  await page.click('button', 'Save')
  assert.deepEqual(page.toasts(), ['This card is canceled.'])
  assert.equal(page.valueOf('Card name'), 'Other')
})
