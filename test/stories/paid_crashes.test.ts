import { test } from 'node:test'
import { startPaidCrashes } from '#test/support/paid_crash.ts'

const { repeatedAfter, abandonedAfter, PRICE } = await startPaidCrashes()

test('kill -9 between settlement and work: a repeat gets the card and pays nothing more', () =>
  repeatedAfter('payment_settled'))

test('kill -9 between settlement and work: without a repeat the money comes back', () =>
  abandonedAfter('payment_settled', PRICE))

test('kill -9 between signing and sending: what was stored is sent, once', () =>
  repeatedAfter('payment_signed'))
