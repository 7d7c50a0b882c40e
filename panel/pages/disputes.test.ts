import assert from 'node:assert/strict'
import { test } from 'node:test'
import '#panel/test_support/browser_globals.ts'
import { refuse, serve } from '#panel/test_support/network.ts'
import { open } from '#panel/test_support/page.ts'
import { page as pageOf, row, sample } from '#panel/test_support/samples.ts'
import { DisputePage } from './dispute.tsx'
import { Disputes } from './disputes.tsx'

const dispute = sample('get_dispute', {
  status: 'open',
  outcome: null,
  response: null,
  evidence: [],
})
const charge = row('list_transactions', { merchant_name: 'B&H Photo', dispute_id: dispute.id })

test('disputes are listed with their merchants, and filtered by the service', async (t) => {
  const service = serve(t, {
    list_disputes: pageOf([dispute]),
    list_transactions: pageOf([charge]),
  })
  const page = await open(t, Disputes, {}, { path: '/disputes' })
  assert.match(page.in('table').text(), /B&H Photo/)
  await page.fill('Outcome', 'won')
  assert.deepEqual(service.sent('list_disputes').at(-1), { outcome: 'won' })
})

test('an empty list differs from a filter without results', async (t) => {
  serve(t, { list_disputes: pageOf([]) })
  const page = await open(t, Disputes, {}, { path: '/disputes' })
  assert.match(page.text(), /No disputes/)
  await page.fill('Status', 'closed')
  assert.match(page.text(), /No results/)
})

test('dispute: an open one takes evidence, and its credit is provisional', async (t) => {
  serve(t, { get_dispute: dispute, get_transaction: charge })
  const page = await open(t, DisputePage, { id: dispute.id })
  assert(page.has('heading', 'Dispute with B&H Photo'))
  assert(page.has('button', 'Add evidence'))
  assert(page.has('term', 'Provisional credit'))
})

test('dispute: a lost one takes no evidence, and its credit is reversed', async (t) => {
  const lost = sample('get_dispute', {
    status: 'closed',
    outcome: 'lost',
    closed_by: 'decision' as never,
  })
  serve(t, { get_dispute: { ...lost, closed_by: null }, get_transaction: charge })
  const page = await open(t, DisputePage, { id: dispute.id })
  assert(!page.has('button', 'Add evidence'))
  assert(page.has('term', 'Reversed credit'))
  assert.match(page.in('list', 'Timeline').text(), /You lost/)
})

test('dispute: one that does not exist says so', async (t) => {
  serve(t, { get_dispute: refuse('not_found', 'No such dispute.') })
  const page = await open(t, DisputePage, { id: dispute.id })
  assert.match(page.text(), /Dispute not found/)
})
