import assert from 'node:assert/strict'
import { test } from 'node:test'
import '#panel/test_support/browser_globals.ts'
import { createElement } from 'react'
import { useTestClock } from '#panel/test_support/clock.ts'
import { type Answers, refuse, serve } from '#panel/test_support/network.ts'
import { open, type Page } from '#panel/test_support/page.ts'
import { sample } from '#panel/test_support/samples.ts'
import { Reveal } from './reveal.tsx'

const card = sample('get_card', { status: 'active', name: 'Travel' })
const shown = { pan: '4000001234567899', expiry: '11/29', cvv: '123' }
const answers: Answers = {
  get_account: sample('get_account', { two_factor_enabled: false }),
  'POST /oauth/card_reveals': shown,
}

async function reveal(page: Page): Promise<void> {
  await page.click('button', 'Reveal card number')
  await page.fill('Password', 'secret words')
  await page.click('button', 'Reveal')
}

test('a card number is shown after the password, in groups of four', async (t) => {
  const service = serve(t, answers)
  const page = await open(t, Reveal, { card })
  assert.doesNotMatch(page.text(), /4000/)
  await reveal(page)
  assert.match(page.in('dialog', 'Travel').text(), /4000 0012 3456 7899.*11\/29.*123/)
  const sent = { card_id: card.id, password: 'secret words' }
  assert.deepEqual(service.sent('POST /oauth/card_reveals'), [sent])
})

test('a revealed number is hidden after 60 s', async (t) => {
  useTestClock(t)
  serve(t, answers)
  const page = await open(t, Reveal, { card })
  await reveal(page)
  await page.pass(58_000)
  assert.match(page.text(), /4000 0012 3456 7899/)
  await page.pass(3_000)
  assert(!page.has('dialog'))
  assert.doesNotMatch(document.body.innerHTML, /4000 0012/)
})

test('it is hidden in time even if the card changes while the number is shown', async (t) => {
  useTestClock(t)
  serve(t, answers)
  const page = await open(t, Reveal, { card })
  await reveal(page)
  for (const balance_usd of [10, 9, 8]) {
    await page.pass(15_000)
    await page.render(createElement(Reveal, { card: { ...card, balance_usd } }))
  }
  await page.pass(16_000)
  assert(!page.has('dialog'))
})

test('the number is gone once the dialog is closed, and the password is asked again', async (t) => {
  serve(t, answers)
  const page = await open(t, Reveal, { card })
  for (const close of [() => page.press('Escape'), () => page.click('button', 'Hide now')]) {
    await reveal(page)
    await close()
    assert(!page.has('dialog'))
  }
  await page.click('button', 'Reveal card number')
  assert.equal(page.valueOf('Password'), '')
})

test('a wrong password is shown at the password field, and nothing is revealed', async (t) => {
  const refusal = refuse('invalid_credentials', 'Incorrect password.')
  serve(t, { ...answers, 'POST /oauth/card_reveals': refusal })
  const page = await open(t, Reveal, { card })
  await reveal(page)
  assert.equal(page.errorOf('Password'), 'Incorrect password.')
  assert(page.has('button', 'Reveal'))
})

test('a canceled card has no number to reveal', async (t) => {
  const page = await open(t, Reveal, { card: { ...card, status: 'cancelled' } })
  assert(!page.has('button', 'Reveal card number'))
})
