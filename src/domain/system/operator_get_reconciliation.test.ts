import assert from 'node:assert/strict'
import { test } from 'node:test'
import { openMoneyRoom } from '#test/support/money_room.ts'
import { soundBooks } from '#test/support/sound_books.ts'
import { operatorGetReconciliation } from './operator_get_reconciliation.ts'
import { replaceFindings } from './proof_store.ts'

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

test('a settled purchase that the ledger lacks is a difference of its network', async () => {
  const [before] = (await reconcile()).network
  const changed = await room.db.run(
    `update transactions set amount_micros = amount_micros + 5000000
      where id = (select id from transactions where type = 'capture' and network = $1 limit 1)`,
    [before?.network],
  )
  assert.equal(changed, 1)
  const after = (await reconcile()).network.find(({ network }) => network === before?.network)
  assert.deepEqual([after?.difference_usd, after?.ledger_usd], [-5, before?.ledger_usd])
})

test('a proof that fails is a violation with its object and since when, until it holds', async () => {
  const [proof, account_id, id] = ['the books balance', await room.openAccount(), 'card_1']
  const scope = { proof_names: [proof], accounts: null }
  const found = [{ proof, account_id, id, sentence: 'The card shows 5.00 too much.' }]
  const first_seen_at = room.clock.now()
  await replaceFindings(room.db, scope, { found, now: first_seen_at })
  room.clock.pass(3_600_000)
  await replaceFindings(room.db, scope, { found, now: room.clock.now() })
  assert.deepEqual((await reconcile()).violations, [
    {
      proof,
      account_id,
      object_id: id,
      sentence: 'The card shows 5.00 too much.',
      first_seen_at: first_seen_at.toISOString(),
      last_seen_at: room.clock.now().toISOString(),
    },
  ])
  await replaceFindings(room.db, scope, { found: [], now: room.clock.now() })
  assert.deepEqual((await reconcile()).violations, [])
})
