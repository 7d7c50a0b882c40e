import assert from 'node:assert/strict'
import { test } from 'node:test'
import '#panel/test_support/browser_globals.ts'
import { refuse, serve } from '#panel/test_support/network.ts'
import { open } from '#panel/test_support/page.ts'
import { row, sample } from '#panel/test_support/samples.ts'
import { FileDispute } from './file_dispute.tsx'

const transaction = row('list_transactions', { amount_usd: 32.06, refunded_usd: 2 })
const dispute = sample('file_dispute')
const props = { transaction, onClose: () => {} }

test('without an amount the rest of the charge is disputed, and the dispute opens', async (t) => {
  const service = serve(t, { file_dispute: dispute })
  const page = await open(t, FileDispute, props)
  await page.fill('Reason', 'duplicate')
  await page.fill('What happened?', 'Charged twice.')
  await page.click('button', 'Submit dispute')
  assert.deepEqual(service.sent('file_dispute'), [
    { transaction_id: transaction.id, reason: 'duplicate', explanation: 'Charged twice.' },
  ])
  assert.equal(page.path(), `/disputes/${dispute.id}`)
})

test('a refused amount and explanation are shown at their fields', async (t) => {
  const details = { amount_usd: 'must be at most 30.06', explanation: 'must say more' }
  serve(t, { file_dispute: refuse('invalid_request', details) })
  const page = await open(t, FileDispute, props)
  await page.fill('Disputed amount (optional)', '40')
  await page.fill('What happened?', 'x')
  await page.click('button', 'Submit dispute')
  assert.equal(page.errorOf('Disputed amount (optional)'), 'Must be at most 30.06.')
  assert.equal(page.errorOf('What happened?'), 'Must say more.')
  assert(page.has('dialog'))
})

test('a charge that cannot be disputed says why, and nothing is sent without a story', async (t) => {
  const service = serve(t, { file_dispute: refuse('dispute_exists', 'You disputed it already.') })
  const page = await open(t, FileDispute, props)
  await page.click('button', 'Submit dispute')
  assert.deepEqual(service.calls, [])
  await page.fill('What happened?', 'Charged twice.')
  await page.click('button', 'Submit dispute')
  assert.match(page.get('alert').textContent ?? '', /already/)
})
