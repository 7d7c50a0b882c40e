import assert from 'node:assert/strict'
import { test } from 'node:test'
import { openMoneyRoom } from '#test/support/money_room.ts'
import { soundBooks } from '#test/support/sound_books.ts'
import { operatorGetReconciliation } from './operator_get_reconciliation.ts'

const room = await openMoneyRoom({}, await soundBooks())
const reconcile = async () => (await room.prepareAndOperate(operatorGetReconciliation, {})).value

test('the books agree with the card networks', async () => {
  const { network, violations, paid_calls } = await reconcile()
  assert(network.some(({ ledger_usd }) => ledger_usd !== 0))
  for (const { difference_usd } of network) assert.equal(difference_usd, 0)
  assert.deepEqual([violations, paid_calls], [[], null])
})

test('a chain whose node does not respond is a fault, not a difference', async () => {
  const { chains } = await reconcile()
  assert.equal(chains.length, 1)
  const [tron] = chains
  assert.deepEqual([tron?.on_chain_usd, tron?.difference_usd, tron?.is_short], [null, null, false])
  assert.notEqual(tron?.fault, null)
})
