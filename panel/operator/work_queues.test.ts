import assert from 'node:assert/strict'
import { test } from 'node:test'
import '#panel/test_support/browser_globals.ts'
import type { FunctionComponent } from 'react'
import { type Answers, refuse, serve } from '#panel/test_support/network.ts'
import { open } from '#panel/test_support/page.ts'
import { page as pageOf, row, sample } from '#panel/test_support/samples.ts'
import { Clearings } from './clearings.tsx'
import { ConvertClearing } from './convert_clearing.tsx'
import { HeldRefunds } from './held_refunds.tsx'
import { Suspense } from './suspense.tsx'
import { Withdrawals } from './withdrawals.tsx'

const clearing = row('operator_list_conversions', {
  merchant_name: 'Bahn',
  amount: 23.1,
  currency: 'EUR',
  kind: 'capture',
  amount_usd: null,
})
const refund = row('operator_list_held_refunds', { merchant_name: 'Bahn', amount_usd: 12.5 })
const deposit = row('operator_list_held_deposits', { amount_usd: 40 })
const withdrawal = row('operator_list_withdrawals', {
  status: 'pending',
  in_review: true,
  status_reason: null,
  net_usd: 99,
})

const queues: readonly [name: keyof Answers, page: FunctionComponent, empty: RegExp][] = [
  ['operator_list_conversions', Clearings, /No clearings/],
  ['operator_list_held_refunds', HeldRefunds, /No refunds/],
  ['operator_list_held_deposits', Suspense, /No deposits/],
  ['operator_list_withdrawals', Withdrawals, /No withdrawals/],
]

for (const [name, component, empty] of queues) {
  test(`${name}: an empty queue says so, and a failed one can be loaded again`, async (t) => {
    const service = serve(t, { [name]: refuse('insufficient_scope', 'You need another role.') })
    const page = await open(t, component, {})
    assert.match(page.get('alert').textContent ?? '', /You need another role\./)
    service.answer({ [name]: pageOf([]) })
    await page.click('button', 'Try again')
    assert.match(page.text(), empty)
  })
}

test('a clearing gets its USD amount once, and is then shown with it', async (t) => {
  const converted = { ...clearing, amount_usd: 25.5 }
  const service = serve(t, {
    operator_list_conversions: pageOf([clearing]),
    operator_convert_clearing: sample('operator_convert_clearing'),
  })
  const page = await open(t, Clearings, {})
  await page.click('button', 'Enter USD amount: Bahn, €23.10')
  await page.fill('USD amount', '25.50')
  service.answer({ operator_list_conversions: pageOf([converted]) })
  await page.click('button', 'Save')
  const sent = { id: clearing.id, amount_usd: 25.5 }
  assert.deepEqual(service.sent('operator_convert_clearing'), [sent])
  assert(!page.has('button', /^Enter USD amount/))
  assert.match(page.text(), /\$25\.50/)
})

test('an amount of an unknown currency is shown as it came', async (t) => {
  serve(t, { operator_list_conversions: pageOf([{ ...clearing, currency: '???' }]) })
  const page = await open(t, Clearings, {})
  assert(page.has('button', 'Enter USD amount: Bahn, 23.1 ???'))
})

test('convert_clearing: a refused amount is shown at its field and the dialog stays open', async (t) => {
  const refusal = refuse('amount_out_of_range', { amount_usd: 'must be at most $115.50' })
  serve(t, { operator_convert_clearing: refusal })
  const onClose = () => assert.fail('it stays open')
  const page = await open(t, ConvertClearing, { clearing, amount: '€23.10', onClose })
  await page.fill('USD amount', '2550')
  await page.click('button', 'Save')
  assert.equal(page.errorOf('USD amount'), 'Must be at most $115.50.')
})

test('convert_clearing: the rate shows while the amount is typed, so a slip of two digits does too', async (t) => {
  serve(t, {})
  const page = await open(t, ConvertClearing, { clearing, amount: '€23.10', onClose: () => {} })
  assert.match(page.text(), /The amount the network bills\./)
  await page.fill('USD amount', '25.50')
  assert.match(page.text(), /That is \$1\.104 per EUR\./)
  await page.fill('USD amount', '2550')
  assert.match(page.text(), /That is \$110\.4 per EUR\./)
})

test('a held refund is approved or refused after a question that names the amount', async (t) => {
  const service = serve(t, {
    operator_list_held_refunds: pageOf([refund]),
    operator_approve_refund: sample('operator_approve_refund'),
    operator_refuse_refund: sample('operator_refuse_refund'),
  })
  const page = await open(t, HeldRefunds, {})
  for (const [action, operation] of [
    ['Approve', 'operator_approve_refund'],
    ['Refuse', 'operator_refuse_refund'],
  ] as const) {
    await page.click('button', `${action} refund from Bahn`)
    assert.match(page.in('dialog').text(), /\$12\.50/)
    await page.clickOn(page.in('dialog').get('button', action))
    assert.deepEqual(service.sent(operation), [{ id: refund.id }])
  }
})

test('a refund or clearing without a merchant says so, in the list, its buttons and questions', async (t) => {
  const merchant_name = ''
  serve(t, {
    operator_list_held_refunds: pageOf([{ ...refund, merchant_name }]),
    operator_list_conversions: pageOf([{ ...clearing, merchant_name }]),
  })
  const refunds = await open(t, HeldRefunds, {})
  assert.match(refunds.text(), /Unknown merchant/)
  await refunds.click('button', 'Approve refund from an unknown merchant')
  assert.match(refunds.in('dialog').text(), /\$12\.50 from an unknown merchant will be credited/)
  const clearings = await open(t, Clearings, {})
  await clearings.click('button', 'Enter USD amount: Unknown merchant, €23.10')
  assert(clearings.has('dialog', '€23.10 at an unknown merchant'))
})

test('a deposit in suspense is released or sent back to its sender', async (t) => {
  const service = serve(t, {
    operator_list_held_deposits: pageOf([deposit]),
    operator_release_deposit: sample('operator_release_deposit'),
    operator_refund_deposit: sample('operator_refund_deposit'),
  })
  const page = await open(t, Suspense, {})
  await page.click('button', 'Release')
  await page.clickOn(page.in('dialog').get('button', 'Release'))
  assert.deepEqual(service.sent('operator_release_deposit'), [{ id: deposit.id }])
  await page.click('button', 'Refund')
  assert(page.in('dialog').text().includes(deposit.from_address))
  await page.clickOn(page.in('dialog').get('button', 'Refund'))
  assert.deepEqual(service.sent('operator_refund_deposit'), [{ id: deposit.id }])
})

test('a withdrawal in review is approved with its net amount and address in sight', async (t) => {
  const service = serve(t, {
    operator_list_withdrawals: pageOf([withdrawal]),
    operator_approve_withdrawal: sample('operator_approve_withdrawal'),
  })
  const page = await open(t, Withdrawals, {})
  await page.click('button', 'Approve')
  assert.match(page.in('dialog').text(), /\$99\.00/)
  assert(page.in('dialog').text().includes(withdrawal.address))
  await page.clickOn(page.in('dialog').get('button', 'Approve'))
  assert.deepEqual(service.sent('operator_approve_withdrawal'), [{ id: withdrawal.id }])
})

test('a withdrawal of a suspended account can only be refused, and a sent one neither', async (t) => {
  const held = { ...withdrawal, in_review: false, status_reason: 'account_suspended' as const }
  const sent = {
    ...withdrawal,
    id: withdrawal.id.replace(/.$/, '2'),
    in_review: false,
    status: 'broadcasted' as const,
  }
  const service = serve(t, {
    operator_list_withdrawals: pageOf([held, sent]),
    operator_refuse_withdrawal: sample('operator_refuse_withdrawal'),
  })
  const page = await open(t, Withdrawals, {})
  assert(!page.has('button', 'Approve'))
  await page.click('button', 'Refuse')
  await page.clickOn(page.in('dialog').get('button', 'Refuse'))
  assert.deepEqual(service.sent('operator_refuse_withdrawal'), [{ id: held.id }])
})

test('a withdrawal whose final transfer is another one is marked as sent or returned', async (t) => {
  const mismatch = {
    ...withdrawal,
    status: 'broadcasted' as const,
    status_reason: 'transfer_mismatch' as const,
    txid: 'ab'.repeat(32),
  }
  const service = serve(t, {
    operator_list_withdrawals: pageOf([mismatch]),
    operator_approve_withdrawal: sample('operator_approve_withdrawal'),
    operator_refuse_withdrawal: sample('operator_refuse_withdrawal'),
  })
  const page = await open(t, Withdrawals, {})
  assert(!page.has('button', 'Approve'))
  await page.click('button', 'Mark as sent')
  assert(page.in('dialog').text().includes(mismatch.txid))
  assert.match(page.in('dialog').text(), /Nothing is sent again/)
  await page.clickOn(page.in('dialog').get('button', 'Mark as sent'))
  assert.deepEqual(service.sent('operator_approve_withdrawal'), [{ id: mismatch.id }])
  await page.click('button', 'Return money')
  assert.match(page.in('dialog').text(), /paid twice/)
  await page.clickOn(page.in('dialog').get('button', 'Return money'))
  assert.deepEqual(service.sent('operator_refuse_withdrawal'), [{ id: mismatch.id }])
})

test('the list of withdrawals is filtered by the service', async (t) => {
  const service = serve(t, { operator_list_withdrawals: pageOf([]) })
  const page = await open(t, Withdrawals, {}, { path: '/withdrawals' })
  await page.fill('Status', 'review')
  assert.deepEqual(service.sent('operator_list_withdrawals').at(-1), { status: 'review' })
  assert.equal(page.path(), '/withdrawals?status=review')
})
