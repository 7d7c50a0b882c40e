import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { NodeFetch } from '#platform/http_client/node_fetch.ts'
import { openPaymentRoom, PAY_TO } from '#test/support/payment_room.ts'
import { collect } from './collect.ts'
import { stampOf } from './payment_context.ts'
import { creditAccount, owe, spend } from './payment_money.ts'
import { reconcilePayments } from './reconcile_payments.ts'

const room = await openPaymentRoom()
const { db, context, clock, facilitator } = room
const x402 = { ...room.dependencies.settings.x402, rpc_url: 'http://node', pay_to: PAY_TO }

/** A node on which the receiving address holds this many micro-dollars. */
const nodeWith =
  (micros: bigint): NodeFetch =>
  async () => {
    const result = `0x${micros.toString(16).padStart(64, '0')}`
    return new Response(JSON.stringify({ jsonrpc: '2.0', id: 1, result })) as never
  }
const reconcile = (micros: bigint) => reconcilePayments(db, x402, nodeWith(micros))

test('null without prices and payments; zeros with prices and no payment', async () => {
  assert.equal(await reconcile(0n), null)
  const priced = { ...x402, prices: new Map([['issue_card', 500_000n]]) as never }
  const difference = await reconcilePayments(db, priced, nodeWith(0n))
  assert.deepEqual([difference?.ledger_usd, difference?.difference_usd], [0, 0])
})

test('each payment counts by its state, and the chain is compared with the books', async () => {
  const account_id = await room.openAccount()
  const [spent, credited, owed] = [
    await room.openSettled(),
    await room.openSettled({ account_id }),
    await room.openSettled(),
  ]
  await db.transaction(async (tx) => {
    await spend(tx, spent, stampOf(context))
    for (const row of [credited, owed]) await owe(tx, row, 'refused', clock.now())
    await creditAccount(tx, credited, stampOf(context))
  })
  facilitator.outcome = () => ({ outcome: 'pending' })
  await assert.rejects(collect(context, room.newBill()))
  const difference = await reconcile(1_700_000n)
  assert.deepEqual(
    {
      ledger: difference?.ledger_usd,
      owed: difference?.owed_usd,
      credited: difference?.credited_usd,
      in_flight: difference?.in_flight_usd,
      on_chain: difference?.on_chain_usd,
      difference: difference?.difference_usd,
    },
    { ledger: 1.5, owed: 0.5, credited: 0.5, in_flight: 0.5, on_chain: 1.7, difference: 0.2 },
  )
})

test('an unreachable node is a fault without a difference, and so is none', async () => {
  const down: NodeFetch = () => Promise.reject(new Error('connection refused'))
  for (const difference of [
    await reconcilePayments(db, x402, down),
    await reconcilePayments(db, { ...x402, rpc_url: null }, nodeWith(0n)),
  ]) {
    assert.deepEqual([difference?.on_chain_usd, difference?.difference_usd], [null, null])
    assert.notEqual(difference?.fault ?? null, null)
  }
})
