import assert from 'node:assert/strict'
import { test } from 'node:test'
import '#panel/test_support/browser_globals.ts'
import { refuse, serve } from '#panel/test_support/network.ts'
import { open } from '#panel/test_support/page.ts'
import { page as pageOf, row, sample } from '#panel/test_support/samples.ts'
import { AccountNotes } from './account_notes.tsx'

const note = row('operator_list_notes', { body: 'Called about a card.' })
const account_id = sample('operator_get_account').id

test('a note is sent without spaces around it, listed, and its field cleared', async (t) => {
  const service = serve(t, { operator_list_notes: pageOf([]), operator_add_note: note })
  const page = await open(t, AccountNotes, { account_id })
  await page.fill('New note', ' Called about a card. ')
  service.answer({ operator_list_notes: pageOf([note]) })
  await page.click('button', 'Save note')
  const sent = { id: account_id, body: 'Called about a card.' }
  assert.deepEqual(service.sent('operator_add_note'), [sent])
  assert.match(page.text(), /Called about a card\./)
  assert.equal(page.valueOf('New note'), '')
})

test('a refused note stays in its field', async (t) => {
  const refusal = refuse('insufficient_scope', 'You need the role support.')
  serve(t, { operator_list_notes: pageOf([]), operator_add_note: refusal })
  const page = await open(t, AccountNotes, { account_id })
  await page.fill('New note', 'Called.')
  await page.click('button', 'Save note')
  assert.match(page.get('alert').textContent ?? '', /role support/)
  assert.equal(page.valueOf('New note'), 'Called.')
})

test('an empty note cannot be saved, and older notes are loaded on request', async (t) => {
  const older = { ...note, id: note.id.replace(/.$/, '2'), body: 'Older note.' }
  serve(t, {
    operator_list_notes: ({ cursor }) =>
      cursor === undefined ? pageOf([note], 'page_2') : pageOf([older]),
  })
  const page = await open(t, AccountNotes, { account_id })
  assert.equal((page.get('button', 'Save note') as HTMLButtonElement).disabled, true)
  await page.click('button', 'Show more')
  assert.match(page.text(), /Older note\./)
  assert(!page.has('button', 'Show more'))
})
