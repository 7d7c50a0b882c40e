import assert from 'node:assert/strict'
import { test } from 'node:test'
import '#panel/test_support/browser_globals.ts'
import { createElement } from 'react'
import { open, openElement } from '#panel/test_support/page.ts'
import { Button } from './button.tsx'
import { DropZone } from './drop_zone.tsx'
import { Menu } from './menu.tsx'
import { PeriodFilter } from './period.tsx'
import { Picker } from './picker.tsx'
import { Tabs } from './tabs.tsx'
import { Toggle } from './toggle.tsx'

test('button: a busy button is disabled and does not submit a form by accident', async (t) => {
  const page = await open(t, Button, { busy: true, children: 'Load' })
  const button = page.get('button', 'Load') as HTMLButtonElement
  assert.deepEqual([button.disabled, button.type], [true, 'button'])
})

test('menu: it opens by keyboard and pointer, runs the chosen item once, and closes', async (t) => {
  const chosen: string[] = []
  const items = [
    { text: 'Replace', onSelect: () => void chosen.push('replace') },
    'line' as const,
    { text: 'Delete', disabled: true, onSelect: () => void chosen.push('delete') },
  ]
  const trigger = createElement('button', { type: 'button' }, 'More')
  const page = await open(t, Menu, { trigger, items })
  await page.click('button', 'More')
  await page.click('menuitem', 'Delete')
  assert.deepEqual(chosen, [], 'the item is disabled')
  await page.click('menuitem', 'Replace')
  assert.deepEqual(chosen, ['replace'])
  assert(!page.has('menu'))
  page.get('button', 'More').focus()
  await page.press('Enter')
  assert(page.has('menuitem', 'Replace'))
  await page.press('Escape')
  assert(!page.has('menuitem'))
})

test('toggle: it reports the new value and is named by its label', async (t) => {
  const changes: boolean[] = []
  const onChange = (is_on: boolean) => void changes.push(is_on)
  const page = await open(t, Toggle, { label: 'Card frozen', checked: true, onChange })
  await page.click('switch', 'Card frozen')
  assert.deepEqual(changes, [false])
})

test('tabs: the first is open, and another opens by pointer or arrow key', async (t) => {
  const tabs = [
    { value: 'html', title: 'HTML', content: 'Styled' },
    { value: 'text', title: 'Text', content: 'Plain' },
  ]
  const page = await open(t, Tabs, { label: 'Format', tabs })
  assert.equal(page.get('tabpanel', 'HTML').textContent, 'Styled')
  await page.click('tab', 'Text')
  assert.equal(page.get('tabpanel', 'Text').textContent, 'Plain')
  await page.press('ArrowLeft')
  assert.equal(page.get('tabpanel', 'HTML').textContent, 'Styled')
})

test('drop_zone: dropped and chosen files are handed over, and can be chosen again', async (t) => {
  const given: string[] = []
  const onFiles = (files: File[]) => void given.push(files.map(({ name }) => name).join())
  const props = { label: 'Drop files', hint: 'PDF', accept: '.pdf', onFiles }
  const page = await open(t, DropZone, props)
  const files = [new File(['1'], 'one.pdf'), new File(['2'], 'two.pdf')]
  const zone = document.querySelector('label')
  const drop = Object.assign(new Event('drop', { bubbles: true, cancelable: true }), {
    dataTransfer: { files },
  })
  zone?.dispatchEvent(drop)
  const input = page.get('file', /^Drop files/) as HTMLInputElement
  Object.defineProperty(input, 'files', { value: [files[0]] })
  input.dispatchEvent(new Event('change', { bubbles: true }))
  await page.settle()
  assert.deepEqual(given, ['one.pdf,two.pdf', 'one.pdf'])
  assert(drop.defaultPrevented, 'the browser does not open the file')
})

test('picker: Enter adds the first result instead of submitting the form', async (t) => {
  let selected: string[] = []
  let submits = 0
  const picker = createElement(Picker, {
    label: 'Add countries',
    options: [
      ['DE', 'Germany'],
      ['FR', 'France'],
    ] as const,
    nameOf: (code: string) => code,
    selected: ['DE'],
    onChange: (codes: string[]) => {
      selected = codes
    },
  })
  const onSubmit = () => {
    submits += 1
  }
  const page = await openElement(t, createElement('form', { onSubmit }, picker))
  await page.fill('Add countries', 'fr')
  await page.press('Enter')
  assert.deepEqual([selected, submits], [['DE', 'FR'], 0])
  await page.fill('Add countries', 'xyz')
  assert.match(page.text(), /No results/)
  await page.click('button', 'Remove DE')
  assert.deepEqual(selected, [])
})

test('period: a custom range has two dates, and other periods have none', async (t) => {
  const changes: string[] = []
  const set = (name: string, value: string) => void changes.push(`${name}=${value}`)
  const values = { period: 'between', from: '2026-11-01', to: '' }
  const page = await open(t, PeriodFilter, { values, set })
  assert.equal(page.valueOf('From'), '2026-11-01')
  await page.fill('To', '2026-11-30')
  await page.fill('Date', '7')
  assert.deepEqual(changes, ['to=2026-11-30', 'period=7'])
  const week = await open(t, PeriodFilter, { values: { ...values, period: '7' }, set })
  assert(!week.has('textbox', 'From'))
})
