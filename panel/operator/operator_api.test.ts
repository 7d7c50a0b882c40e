import assert from 'node:assert/strict'
import { test } from 'node:test'
import '#panel/test_support/browser_globals.ts'
import { refuse, serve } from '#panel/test_support/network.ts'
import { open } from '#panel/test_support/page.ts'
import { page as pageOf, row, sample } from '#panel/test_support/samples.ts'
import { AccountNotes } from './account_notes.tsx'
import { Disputes } from './disputes.tsx'
import { Withdrawals } from './withdrawals.tsx'

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

test('a withdrawal that somebody else has decided is shown as decided once its refusal was read', async (t) => {
  const waiting = row('operator_list_withdrawals', { in_review: true, status: 'pending' })
  const refused = { ...waiting, in_review: false, status: 'failed' as const }
  const service = serve(t, {
    operator_list_withdrawals: pageOf([{ ...waiting, status_reason: 'review' }]),
    operator_approve_withdrawal: refuse('invalid_request', 'It is not awaiting review.'),
  })
  const page = await open(t, Withdrawals, {})
  await page.click('button', 'Approve')
  service.answer({ operator_list_withdrawals: pageOf([refused]) })
  await page.clickOn(page.in('dialog').get('button', 'Approve'))
  assert.match(page.in('dialog').text(), /not awaiting review/)
  await page.click('button', 'Cancel')
  assert.match(page.in('table').text(), /Failed/)
  assert(!page.has('button', 'Approve'))
})

test('a dispute that somebody else has closed is shown as closed once its refusal was read', async (t) => {
  const dispute = row('operator_list_disputes', {
    status: 'open',
    outcome: null,
    merchant_name: 'Corner Books',
  })
  const service = serve(t, {
    operator_list_disputes: pageOf([dispute]),
    operator_close_dispute: refuse('dispute_closed', 'This dispute is closed.'),
  })
  const page = await open(t, Disputes, {})
  await page.click('button', 'Corner Books')
  await page.click('button', 'Customer loses')
  const closed = { ...dispute, status: 'closed' as const, outcome: 'won' as const }
  service.answer({ operator_list_disputes: pageOf([closed]) })
  const question = page.in('dialog', 'Close dispute?')
  await page.clickOn(question.get('button', 'Customer loses'))
  assert.match(page.in('dialog', 'Close dispute?').text(), /is closed/)
  await page.click('button', 'Cancel')
  assert(!page.has('button', 'Customer loses'))
})
