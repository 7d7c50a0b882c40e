import { test } from 'node:test'
import type { Failpoint } from '#platform/runtime/failpoints.ts'
import { startPaidCrashes } from '#test/support/paid_crash.ts'

const { assertRepeatedAfter, assertAbandonedAfter, PRICE } = await startPaidCrashes()

/** The payer's cost if the node dies at this point, before a repeat. */
const taken: readonly (readonly [Failpoint, bigint])[] = [
  ['payment_reserved', 0n],
  ['payment_signed', PRICE],
  ['payment_sent', PRICE],
  ['payment_settled', PRICE],
  ['after_handler', PRICE],
]

for (const [point, amount] of taken) {
  test(`kill -9 at ${point}: a repeat gets the card, and the payer has paid once`, () =>
    assertRepeatedAfter(point))
  test(`kill -9 at ${point}: without a repeat no charge remains`, () =>
    assertAbandonedAfter(point, amount))
}

test('kill -9 before the reply: the response is stored under its key', () =>
  assertRepeatedAfter('before_reply'))
