import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createElement } from 'react'
import type { Transaction } from '#contract/transactions.ts'
import '#panel/test_support/browser_globals.ts'
import { renderAt } from '#panel/test_support/render.tsx'
import { findDisputableCapture, PurchaseTimeline } from './purchase_timeline.tsx'

const transactionOf = (fields: Partial<Transaction>): Transaction =>
  ({
    id: 'txn_1',
    type: 'authorization',
    status: 'captured',
    amount_usd: 20,
    held_usd: 0,
    captured_usd: 20,
    refunded_usd: 0,
    dispute_id: null,
    expires_at: null,
    created_at: '2026-11-16T09:00:00.000Z',
    updated_at: '2026-11-16T09:00:00.000Z',
    ...fields,
  }) as Transaction

const authorization = transactionOf({ id: 'txn_auth' })
const first = transactionOf({ id: 'txn_first', type: 'capture' })
const second = transactionOf({ id: 'txn_second', type: 'capture' })
const refund = transactionOf({ id: 'txn_refund', type: 'refund', amount_usd: 5 })

function titles(...related: Transaction[]): string[] {
  const [transaction = authorization] = related
  const timeline = createElement(PurchaseTimeline, { transaction, related })
  const html = renderAt('/transactions', timeline)
  return [...html.matchAll(/<span class="font-medium[^"]*">([^<]+)</g)].map(
    ([, title]) => `${title}`,
  )
}

test('a purchase is shown from authorization to refund', () => {
  assert.deepEqual(titles(authorization, first, refund), ['Authorized', 'Captured', 'Refunded'])
})

test('an authorization shows how its hold ended, or that it is open', () => {
  const held = { held_usd: 20, expires_at: '2026-11-23T09:00:00.000Z' }
  const waiting = transactionOf({ ...held, status: 'pending' })
  assert.deepEqual(titles(waiting), ['Authorized', 'Waiting for merchant'])
  assert.deepEqual(titles(transactionOf({ status: 'reversed' })), ['Authorized', 'Reversed'])
  assert.deepEqual(titles(transactionOf({ status: 'expired' })), ['Authorized', 'Expired'])
})

test('a refund that the merchant reversed shows both steps', () => {
  const reversed = transactionOf({ type: 'refund', status: 'reversed' })
  assert.deepEqual(titles(reversed), ['Refunded', 'Refund reversed'])
})

test('the page of a capture disputes that capture, other pages the first one', () => {
  const related = [authorization, first, second, refund]
  assert.equal(findDisputableCapture(second, related), second)
  assert.equal(findDisputableCapture(refund, related), first)
  assert.equal(findDisputableCapture(authorization, [authorization]), undefined)
})

test('a disputed capture cannot be disputed again', () => {
  const disputed = transactionOf({ id: 'txn_first', type: 'capture', dispute_id: 'dsp_1' })
  assert.equal(findDisputableCapture(disputed, [authorization, disputed, second]), undefined)
  assert.equal(findDisputableCapture(authorization, [authorization, disputed, second]), second)
})

test('a purchase that was refunded in full offers no dispute, one refunded in part does', () => {
  const refunded = transactionOf({ id: 'txn_first', type: 'capture', refunded_usd: 20 })
  assert.equal(findDisputableCapture(refund, [authorization, refunded, refund]), undefined)
  const partly = transactionOf({ id: 'txn_first', type: 'capture', refunded_usd: 5 })
  assert.equal(findDisputableCapture(refund, [authorization, partly, refund]), partly)
})
