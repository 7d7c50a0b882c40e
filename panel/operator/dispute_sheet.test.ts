import assert from 'node:assert/strict'
import { test } from 'node:test'
import '#panel/test_support/browser_globals.ts'
import { collectDownloads } from '#panel/test_support/downloads.ts'
import { refuse, serve } from '#panel/test_support/network.ts'
import { open } from '#panel/test_support/page.ts'
import { row, sample } from '#panel/test_support/samples.ts'
import { DisputeSheet } from './dispute_sheet.tsx'

const dispute = row('operator_list_disputes', {
  status: 'open',
  outcome: null,
  response: null,
  closed_by: null,
  provisional_credit_usd: 32.06,
})
const closed = sample('operator_close_dispute')
const onClose = () => {}

test('a decision names the credit, asks first, and is sent with its note', async (t) => {
  const service = serve(t, { operator_close_dispute: closed })
  const page = await open(t, DisputeSheet, { dispute, onClose })
  await page.fill('Merchant response or decision note', ' No proof of delivery. ')
  await page.click('button', 'Customer wins')
  assert.match(page.in('dialog', 'Close dispute?').text(), /\$32\.06/)
  assert.deepEqual(service.calls, [])
  await page.clickOn(page.in('dialog', 'Close dispute?').get('button', 'Customer wins'))
  const sent = { id: dispute.id, outcome: 'won', text: 'No proof of delivery.' }
  assert.deepEqual(service.sent('operator_close_dispute'), [sent])
  assert(!page.has('dialog', 'Close dispute?'))
})

test('a decision can be dismissed, and a refused one says why', async (t) => {
  const service = serve(t, {
    operator_close_dispute: refuse('decision_already_made', 'It is already closed.'),
  })
  const page = await open(t, DisputeSheet, { dispute, onClose })
  await page.click('button', 'Customer loses')
  await page.click('button', 'Cancel')
  assert.deepEqual(service.calls, [])
  await page.click('button', 'Customer loses')
  await page.clickOn(page.in('dialog', 'Close dispute?').get('button', 'Customer loses'))
  assert.match(page.in('dialog', 'Close dispute?').text(), /already closed/)
})

test('a response is recorded without closing the dispute', async (t) => {
  const service = serve(t, { operator_answer_dispute: sample('operator_answer_dispute') })
  const page = await open(t, DisputeSheet, { dispute, onClose })
  assert.equal((page.get('button', 'Record response') as HTMLButtonElement).disabled, true)
  await page.fill('Merchant response or decision note', 'It was delivered.')
  await page.click('button', 'Record response')
  const sent = { id: dispute.id, text: 'It was delivered.' }
  assert.deepEqual(service.sent('operator_answer_dispute'), [sent])
  assert.equal(page.valueOf('Merchant response or decision note'), '')
})

test('a closed dispute cannot be decided again', async (t) => {
  const page = await open(t, DisputeSheet, { dispute: { ...dispute, status: 'closed' }, onClose })
  assert(!page.has('button', 'Customer wins'))
  assert(!page.has('textbox'))
})

test('each piece of evidence shows its file and note, and its file can be downloaded', async (t) => {
  const downloads = collectDownloads(t)
  const [piece] = sample('get_dispute').evidence
  assert(piece !== undefined)
  const file = { ...piece, file_name: 'receipt.pdf', size_bytes: 48_213, note: 'See the date.' }
  const path = `GET /operator/v1/disputes/${file.dispute_id}/evidence/${file.id}` as const
  serve(t, { [path]: new Response('PDF') })
  const page = await open(t, DisputeSheet, { dispute: { ...dispute, evidence: [file] }, onClose })
  assert.match(page.text(), /receipt\.pdf.*See the date\..*47\.1 kB/)
  await page.click('button', 'Download receipt.pdf')
  assert.deepEqual(await downloads(), [{ name: 'receipt.pdf', text: 'PDF' }])
})
