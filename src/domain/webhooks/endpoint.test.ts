import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { LeasedDelivery } from './delivery_store.ts'
import { Endpoint } from './endpoint.ts'

const delivery = (event_id: string): LeasedDelivery => ({
  account_id: 'acct_1',
  webhook_id: 'wh_1',
  event_id,
  event_type: 'card.loaded',
  body: '{}',
  url: 'https://a.example/',
  secret_sealed: '',
  previous_secret_sealed: null,
  previous_secret_expires_at: null,
  attempts: 0,
  replays: 0,
})

test('a claim that found no room is repeated as soon as there is room', () => {
  const endpoint = new Endpoint()
  endpoint.sending = 32
  endpoint.has_backlog = true
  assert.equal(endpoint.leasable_rows, 0)
  endpoint.recordClaim(0, 0, false)
  assert.equal(endpoint.needsRows, false)
  endpoint.sending = 0
  assert.equal(endpoint.needsRows, true)
  endpoint.recordClaim(0, endpoint.leasable_rows, false)
  assert.equal(endpoint.needsRows, false, 'a claim with room found nothing')
})

test('new deliveries are not sent before a backlog', () => {
  const endpoint = new Endpoint()
  assert(endpoint.leasable_new_rows > 0)
  endpoint.recordClaim(4, 4, false)
  assert.equal(endpoint.leasable_new_rows, 0)
  endpoint.recordClaim(3, 32, false)
  assert(endpoint.leasable_new_rows > 0)
})

test('a failing endpoint has room for one delivery, and for more after a success', () => {
  const endpoint = new Endpoint()
  endpoint.recordClaim(1, 32, true)
  assert.equal(endpoint.leasable_rows, 1)
  assert.equal(endpoint.needsRows, true, 'more may be due')
  endpoint.waiting.push(delivery('evt_1'))
  assert.equal(endpoint.leasable_rows, 0)
  endpoint.takeWaiting()
  endpoint.recordSuccess(5)
  assert(endpoint.leasable_rows > 1)
  endpoint.recordFailure()
  assert.equal(endpoint.leasable_rows, 1)
})

test('an endpoint that hangs has no room', () => {
  const endpoint = new Endpoint()
  endpoint.has_backlog = true
  endpoint.sending = 1
  endpoint.silent = 1
  assert.deepEqual(
    [endpoint.leasable_rows, endpoint.leasable_new_rows, endpoint.needsRows],
    [0, 0, false],
  )
})
