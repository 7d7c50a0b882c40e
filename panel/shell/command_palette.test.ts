import assert from 'node:assert/strict'
import { test } from 'node:test'
import '#panel/test_support/browser_globals.ts'
import { createElement, useState } from 'react'
import { useTestClock } from '#panel/test_support/clock.ts'
import { type Answers, serve } from '#panel/test_support/network.ts'
import { open } from '#panel/test_support/page.ts'
import { page as pageOf, row } from '#panel/test_support/samples.ts'
import { CommandPalette } from './command_palette.tsx'

const card = row('list_cards', { name: 'Travel', last4: '4242' })
const purchase = row('list_transactions', { merchant_name: 'Bahn', type: 'authorization' })
const answers: Answers = {
  list_cards: pageOf([card]),
  list_topups: pageOf([]),
  list_withdrawals: pageOf([]),
  list_disputes: pageOf([]),
  list_transactions: pageOf([]),
  'GET /docs/search.json': [],
}
const closed = { open: false, onOpenChange: () => {} }
const FIELD = /^Search purchases/

function recorder() {
  const changes: boolean[] = []
  return { changes, onOpenChange: (is_open: boolean) => void changes.push(is_open) }
}

test('it opens with "/" and Ctrl-K, and not while somebody types a slash', async (t) => {
  const { changes, onOpenChange } = recorder()
  const page = await open(t, CommandPalette, { ...closed, onOpenChange })
  await page.press('/')
  await page.press('k', { ctrlKey: true })
  assert.deepEqual(changes, [true, true])
  const input = document.createElement('input')
  document.body.append(input)
  input.focus()
  await page.press('/')
  assert.deepEqual(changes, [true, true])
})

test('closing gives the focus back to where it was, whether a key or a click opened the search', async (t) => {
  serve(t, answers)
  const Frame = () => {
    const [is_open, setOpen] = useState(false)
    const button = (name: string, onClick?: () => void) =>
      createElement('button', { type: 'button', onClick }, name)
    const palette = createElement(CommandPalette, { open: is_open, onOpenChange: setOpen })
    return createElement(
      'div',
      {},
      button('Go', () => setOpen(true)),
      button('Freeze'),
      palette,
    )
  }
  const page = await open(t, Frame, {})
  const closes = async () => {
    assert.equal(document.activeElement, page.get('combobox', FIELD))
    await page.press('Escape')
    await page.until(() => !page.has('dialog') && document.activeElement !== document.body)
    return document.activeElement?.textContent
  }
  page.get('button', 'Freeze').focus()
  await page.press('/')
  assert.equal(await closes(), 'Freeze')
  await page.click('button', 'Go')
  assert.equal(await closes(), 'Go')
})

test('pages, actions and cards are found while typing; Enter opens the selected one', async (t) => {
  useTestClock(t)
  serve(t, answers)
  const { changes, onOpenChange } = recorder()
  const page = await open(t, CommandPalette, { open: true, onOpenChange }, { path: '/' })
  await page.fill(FIELD, 'travel')
  assert.deepEqual(page.in('group', 'Cards').names('option').length, 1)
  await page.press('Enter')
  assert.equal(page.path(), `/cards/${card.id}`)
  assert.deepEqual(changes, [false])
})

test('arrow keys move the selection in a circle', async (t) => {
  useTestClock(t)
  serve(t, answers)
  const page = await open(t, CommandPalette, { ...closed, open: true })
  await page.fill(FIELD, 'card')
  const selected = () =>
    page
      .all('option')
      .findIndex(
        (each) => each.ariaSelected === 'true' || each.getAttribute('aria-selected') === 'true',
      )
  const last = page.all('option').length - 1
  assert(last > 1)
  assert.equal(selected(), 0)
  await page.press('ArrowDown')
  assert.equal(selected(), 1)
  await page.press('ArrowUp')
  await page.press('ArrowUp')
  assert.equal(selected(), last)
})

test('purchases are asked for when typing pauses, by merchant and amount', async (t) => {
  useTestClock(t)
  const service = serve(t, { ...answers, list_transactions: pageOf([purchase]) })
  const page = await open(t, CommandPalette, { ...closed, open: true })
  await page.fill(FIELD, 'bah')
  await page.fill(FIELD, 'bahn')
  await page.pass(300)
  const searches = service.sent('list_transactions').map(({ merchant }) => merchant)
  assert.deepEqual(searches, ['bahn'])
  assert.match(page.in('group', 'Transactions').text(), /Bahn/)
})

test('a query without results says so, and Escape closes', async (t) => {
  useTestClock(t)
  serve(t, answers)
  const { changes, onOpenChange } = recorder()
  const page = await open(t, CommandPalette, { open: true, onOpenChange })
  await page.fill(FIELD, 'zzzz')
  await page.pass(300)
  assert.match(page.in('dialog').text(), /No results/)
  await page.press('Escape')
  assert.deepEqual(changes, [false])
})

test('the sandbox tools are offered only in the sandbox', async (t) => {
  useTestClock(t)
  serve(t, answers)
  let opened = 0
  const onSandbox = () => {
    opened += 1
  }
  const page = await open(t, CommandPalette, { ...closed, open: true, onSandbox })
  await page.fill(FIELD, 'simulate')
  await page.press('Enter')
  assert.equal(opened, 1)
  const live = await open(t, CommandPalette, { ...closed, open: true })
  await live.fill(FIELD, 'simulate')
  assert(!live.has('option', /Simulate/))
})
