import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { TransferLog } from '#rails/chain/deposit_source.ts'
import { blockHeader, nodeWith } from '#test/support/deposit_node.ts'
import { assertBooksSound } from '#test/support/money.ts'
import { openMoneyRoom, SENDER } from '#test/support/money_room.ts'
import { settleDeposits } from './settle_deposits.ts'
import type { TopupRow } from './topup.ts'
import { findTopupOf } from './topup_store.ts'
import { watchDepositsTask } from './watch_deposits_task.ts'

const room = await openMoneyRoom()
const { db, chain, dependencies } = room
const contract = chain.assets[0]?.contract ?? ''
const VALUE = 25_000_000n
let transfers = 0

function transferTo({ deposit_address }: TopupRow, block_number: number): TransferLog {
  transfers += 1
  return {
    contract,
    from: SENDER,
    to: chain.readAddress(deposit_address) ?? '',
    value: VALUE,
    txid: transfers.toString(16).padStart(64, 'c'),
    block_number,
    block_hash: `${block_number}`,
    log_index: 7,
  }
}

/** Watches a node whose head is 119 and whose last final block is the given one. */
async function watch(logs: readonly TransferLog[], finalized: number): Promise<void> {
  const source = nodeWith(logs, { finalized: async () => blockHeader(finalized) })
  await watchDepositsTask(dependencies, [{ chain, source, check: async () => undefined }]).run()
}

const stateOf = async ({ account_id, id }: TopupRow) => {
  const { status, credited_micros } = await findTopupOf(db, account_id, id)
  return [status, credited_micros]
}

test('a deposit is credited when its own block is final, and not one block before', async () => {
  const topup = await room.openTopup(await room.openAccount())
  const logs = [transferTo(topup, 101)]
  await watch(logs, 100)
  assert.deepEqual(await stateOf(topup), ['confirming', 0n])
  await watch(logs, 101)
  assert.deepEqual(await stateOf(topup), ['completed', VALUE])
  await watch(logs, 102)
  assert.deepEqual(await stateOf(topup), ['completed', VALUE])
  await assertBooksSound(db)
})

test('a deposit that two watchers bring is credited once, and neither fails', async () => {
  const { account_id, ...topup } = await room.openTopup(await room.openAccount())
  const { txid, block_number, block_hash, from, to } = transferTo({ account_id, ...topup }, 90)
  const final = {
    ...{ txid, ordinal: 1, block_number, block_hash, from, to, value: VALUE },
    ...{ account_id, topup_id: topup.id, address: to, asset: 'USDT' },
    block_at: dependencies.clock.now(),
    screening: { decision: 'allow', source: 'a test', list_version: '1' } as const,
  }
  const update = { account_id, topup_id: topup.id, final_transfers: [final], pending: null }
  const settle = () => settleDeposits(dependencies, chain, update)
  await Promise.all([settle(), settle()])
  await settle()
  assert.deepEqual(await stateOf({ account_id, ...topup }), ['completed', VALUE])
  await assertBooksSound(db)
})

test('a chain whose node is down does not stop deposits on the next chain', async () => {
  const topup = await room.openTopup(await room.openAccount())
  const down = async () => {
    throw new Error('the node is down')
  }
  const check = async () => undefined
  const task = watchDepositsTask(dependencies, [
    { chain: { ...chain, name: 'ethereum' }, source: nodeWith([], { finalized: down }), check },
    { chain, source: nodeWith([transferTo(topup, 102)], { finalized }), check },
  ])
  await assert.rejects(task.run(), { message: 'the node is down' })
  assert.deepEqual(await stateOf(topup), ['completed', VALUE])
})

const finalized = async () => blockHeader(102)
