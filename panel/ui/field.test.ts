import assert from 'node:assert/strict'
import { test } from 'node:test'
import '#panel/test_support/browser_globals.ts'
import { descriptionOf } from '#panel/test_support/accessible.ts'
import { open } from '#panel/test_support/page.ts'
import { Field, MoneyField, Select, TextArea } from './field.tsx'

test('an error replaces the hint of a field and marks it as invalid', async (t) => {
  const page = await open(t, Field, { label: 'Name', hint: 'As on the card.' })
  assert.equal(descriptionOf(page.get('textbox', 'Name')), 'As on the card.')
  assert.equal(page.errorOf('Name'), undefined)
  const refused = { label: 'Name', hint: 'As on the card.', error: 'Is required.' }
  const again = await open(t, Field, refused)
  assert.equal(again.errorOf('Name'), 'Is required.')
  assert.doesNotMatch(again.text(), /As on the card/)
})

test('a field that keeps its hint shows it below the error', async (t) => {
  const props = { label: 'Amount', hint: '$5.00 available', error: 'Too much.', keeps_hint: true }
  const page = await open(t, MoneyField, props)
  assert.equal(page.errorOf('Amount'), 'Too much.')
  assert.match(page.text(), /Too much\. \$5\.00 available/)
})

test('an amount field accepts amounts and refuses what could be misread', async (t) => {
  const page = await open(t, MoneyField, { label: 'Amount', defaultValue: '' })
  const field = page.get('textbox', 'Amount') as HTMLInputElement
  for (const text of ['25', '25.5', '1,250.50', '1250000', '0.000001']) {
    await page.fill('Amount', text)
    assert(field.validity.valid, text)
  }
  for (const text of ['25,50', '1,25', '-5', '1e3', '.5', '5.', '0.0000001', '$5']) {
    await page.fill('Amount', text)
    assert(!field.validity.valid, text)
  }
})

test('a select and a text area have their label and error too', async (t) => {
  const options = [['visa', 'Visa']] as const
  const select = await open(t, Select, { label: 'Network', options, error: 'Choose one.' })
  assert.equal(select.errorOf('Network'), 'Choose one.')
  const area = await open(t, TextArea, { label: 'Note', is_label_hidden: true, error: 'Too long.' })
  assert.equal(area.errorOf('Note'), 'Too long.')
})
