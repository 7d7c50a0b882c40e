import assert from 'node:assert/strict'
import { test } from 'node:test'
import '#panel/test_support/browser_globals.ts'
import { refuse, serve } from '#panel/test_support/network.ts'
import { open } from '#panel/test_support/page.ts'
import { page as pageOf, row, sample } from '#panel/test_support/samples.ts'
import { AccountNotes } from './account_notes.tsx'

const note = row('operator_list_notes', { body: 'Called about a card.' })
const account_id = sample('operator_get_account').id
const operator_list_notes = pageOf([])

const loseResponse = (): never => {
  throw new TypeError('connection reset')
}

test('a request whose response was lost is sent again under its key, and others under their own', async (t) => {
  const service = serve(t, { operator_list_notes, operator_add_note: loseResponse })
  const page = await open(t, AccountNotes, { account_id })
  const save = async (text: string) => {
    await page.fill('New note', text)
    await page.click('button', 'Save note')
  }
  await save('Called.')
  assert.match(page.get('alert').textContent ?? '', /try again/)
  await save('Called.')
  await save('Called twice.')
  service.answer({ operator_add_note: refuse('insufficient_scope') })
  await save('Called twice.')
  service.answer({ operator_add_note: note })
  await save('Called twice.')
  await save('Called twice.')
  const keys = service.calls
    .filter(({ name }) => name === 'operator_add_note')
    .map(({ headers }) => headers.get('idempotency-key'))
  const [lost, repeated, other, refused, ...accepted] = keys
  assert(lost !== null && other !== null)
  assert.equal(repeated, lost)
  assert.equal(refused, other)
  assert.equal(new Set([lost, other, ...accepted]).size, 4, 'each settled request has its own')
})
