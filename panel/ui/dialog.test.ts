import assert from 'node:assert/strict'
import { test } from 'node:test'
import '#panel/test_support/browser_globals.ts'
import { createElement, type FormEvent, useState } from 'react'
import { FlorinError } from '#client/client.ts'
import { open, type Page } from '#panel/test_support/page.ts'
import { ConfirmDialog } from './confirm_dialog.tsx'
import { Dialog, Sheet } from './dialog.tsx'
import { Field } from './field.tsx'

function recorder() {
  const changes: boolean[] = []
  return { changes, onOpenChange: (is_open: boolean) => void changes.push(is_open) }
}

for (const [name, component] of [
  ['dialog', Dialog],
  ['sheet', Sheet],
] as const) {
  test(`a ${name} has its title as name, and closes by button and Escape`, async (t) => {
    const { changes, onOpenChange } = recorder()
    const props = { open: true, onOpenChange, title: 'Load card', children: 'Text' }
    const page = await open(t, component, props)
    assert(page.has('dialog', 'Load card'))
    await page.click('button', 'Close')
    await page.press('Escape')
    assert.deepEqual(changes, [false, false])
  })
}

/** Radix listens for clicks outside only from the next turn of the event loop. */
async function clickOutside(page: Page): Promise<void> {
  await new Promise((resolve) => setTimeout(resolve, 10))
  await page.clickOn(document.body)
}

test('a click outside closes a dialog, but does not discard what was typed', async (t) => {
  const { changes, onOpenChange } = recorder()
  const children = createElement(Field, { label: 'Message' })
  const page = await open(t, Dialog, { open: true, onOpenChange, title: 'New ticket', children })
  await clickOutside(page)
  assert.deepEqual(changes, [false])
  await page.fill('Message', 'Hello')
  await clickOutside(page)
  assert.deepEqual(changes, [false])
  await page.press('Escape')
  assert.deepEqual(changes, [false, false])
})

test('a sheet closes by a click outside once its form was sent', async (t) => {
  const { changes, onOpenChange } = recorder()
  const onSubmit = (form: FormEvent) => form.preventDefault()
  const children = createElement(
    'form',
    { onSubmit },
    createElement(Field, { label: 'Reply' }),
    createElement('button', { type: 'submit' }, 'Send'),
  )
  const page = await open(t, Sheet, { open: true, onOpenChange, title: 'Ticket', children })
  await page.fill('Reply', 'Hello')
  await clickOutside(page)
  assert.deepEqual(changes, [])
  await page.click('button', 'Send')
  await clickOutside(page)
  assert.deepEqual(changes, [false])
})

test('a secret that is shown only once is not closed by a click outside', async (t) => {
  const { changes, onOpenChange } = recorder()
  const props = { open: true, is_pinned: true, onOpenChange, title: 'API key', children: 'Secret' }
  const page = await open(t, Dialog, props)
  await clickOutside(page)
  assert.deepEqual(changes, [])
  await page.click('button', 'Close')
  assert.deepEqual(changes, [false])
})

test('a dialog begins in its first field, not at the close button', async (t) => {
  const children = createElement(Field, { label: 'Amount' })
  const props = { open: true, onOpenChange: () => {}, title: 'Load card', children }
  const page = await open(t, Dialog, props)
  assert.equal(document.activeElement, page.get('textbox', 'Amount'))
})

test('a closed dialog is not in the page', async (t) => {
  const props = { open: false, onOpenChange: () => {}, title: 'Load card', children: 'Text' }
  const page = await open(t, Dialog, props)
  assert(!page.has('dialog'))
  assert.equal(page.text(), '')
})

const question = {
  open: true,
  title: 'Revoke?',
  confirm_label: 'Revoke API key',
  busy: false,
  problem: null,
  children: 'It stops working.',
}

test('confirm_dialog: it begins at Cancel, so that Enter does no harm', async (t) => {
  const { changes, onOpenChange } = recorder()
  let confirmed = 0
  const onConfirm = () => {
    confirmed += 1
  }
  const page = await open(t, ConfirmDialog, { ...question, onOpenChange, onConfirm })
  assert.equal(document.activeElement, page.get('button', 'Cancel'))
  await page.click('button', 'Cancel')
  assert.deepEqual([changes, confirmed], [[false], 0])
  await page.click('button', 'Revoke API key')
  assert.equal(confirmed, 1)
})

test('confirm_dialog: it cannot be confirmed twice while the request runs', async (t) => {
  const onConfirm = () => assert.fail('confirmed while busy')
  const props = { ...question, busy: true, onOpenChange: () => {}, onConfirm }
  const page = await open(t, ConfirmDialog, props)
  const button = page.get('button', 'Revoke API key')
  assert.equal((button as HTMLButtonElement).disabled, true)
  assert.equal(button.getAttribute('aria-busy'), 'true')
  button.click()
})

test('confirm_dialog: an error of an earlier try is not shown when it is opened again', async (t) => {
  const problem = new FlorinError({ code: 'internal_error', message: 'It failed.', status: 500 })
  const props = { ...question, problem, onOpenChange: () => {}, onConfirm: () => {} }
  const page = await open(t, ConfirmDialog, props)
  assert.match(page.get('alert').textContent ?? '', /It failed\./)
  await page.click('button', 'Cancel')
  await page.render(createElement(ConfirmDialog, { ...props, open: false }))
  await page.render(createElement(ConfirmDialog, props))
  assert(!page.has('alert'))
})

test('closing gives the focus back to the button that opened it', async (t) => {
  for (const is_unmounted of [false, true]) {
    const Opener = () => {
      const [is_open, setOpen] = useState(false)
      const button = createElement('button', { type: 'button', onClick: () => setOpen(true) }, 'Go')
      const props = { open: is_open, onOpenChange: setOpen, title: 'Load card', children: 'Text' }
      const dialog = (is_open || !is_unmounted) && createElement(Dialog, props)
      return createElement('div', {}, button, dialog)
    }
    const page = await open(t, Opener, {})
    await page.click('button', 'Go')
    assert(page.has('dialog'))
    await page.press('Escape')
    await page.until(() => !page.has('dialog') && document.activeElement !== document.body)
    assert.equal(document.activeElement?.textContent, 'Go')
  }
})
