import { test } from 'node:test'
import { startPaidCrashes } from '#test/support/paid_crash.ts'

const { assertRepeatedAfter, assertAbandonedAfter, PRICE } = await startPaidCrashes()

test('kill -9 between settlement and work: a repeat gets the card and pays nothing more', () =>
  assertRepeatedAfter('payment_settled'))

test('kill -9 between settlement and work: without a repeat the charge is returned', () =>
  assertAbandonedAfter('payment_settled', PRICE))

test('kill -9 between signing and sending: what was stored is sent, once', () =>
  assertRepeatedAfter('payment_signed'))
