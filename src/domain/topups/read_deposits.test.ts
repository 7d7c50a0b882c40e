import assert from 'node:assert/strict'
import { beforeEach, test } from 'node:test'
import type { DepositSource, TransferLog } from '#rails/chain/deposit_source.ts'
import { blockHeader, nodeWith, receiptOf } from '#test/support/deposit_node.ts'
import { openMoneyRoom, SENDER } from '#test/support/money_room.ts'
import type { CursorRow } from './chain_store.ts'
import { ChainFault, readDeposits } from './read_deposits.ts'

const room = await openMoneyRoom()
const { db, chain } = room
const topup = await room.openTopup(await room.openAccount())
const to = chain.readAddress(topup.deposit_address) ?? ''
const contract = chain.assets[0]?.contract ?? ''
const TXID = 'cd'.repeat(32)

const transferAt = (block_number: number): TransferLog => ({
  ...{ contract, from: SENDER, to, value: 25_000_000n },
  ...{ txid: TXID, block_number, block_hash: `${block_number}`, log_index: 7 },
})
const read = (source: DepositSource, cursor?: Partial<CursorRow>) =>
  readDeposits(
    { db, chain, source },
    cursor === undefined ? undefined : ({ ...cursor } as CursorRow),
  )

beforeEach(() =>
  db.run(`update topups set status = 'awaiting', pending = '[]', pending_micros = 0`),
)

test('returns a verified deposit with its owner and its index in the receipt', async () => {
  const scan = await read(nodeWith([transferAt(90)]))
  const [deposit, ...others] = scan?.deposits ?? []
  assert.equal(others.length, 0)
  assert.deepEqual(
    [deposit?.topup_id, deposit?.txid, deposit?.ordinal, deposit?.value, deposit?.asset],
    [topup.id, TXID, 1, 25_000_000n, 'USDT'],
  )
  assert.deepEqual(deposit?.block_at, new Date(270_000))
})

test('ignores other addresses, other contracts, zero amounts and transfers to itself', async () => {
  const log = transferAt(90)
  const others = [
    { ...log, to: 'ef'.repeat(20) },
    { ...log, contract: 'ef'.repeat(20) },
    { ...log, value: 0n },
    { ...log, from: to },
  ]
  assert.deepEqual((await read(nodeWith(others)))?.deposits, [])
})

test('ignores the log of a failed transaction, final or not', async () => {
  for (const block_number of [90, 110]) {
    const log = transferAt(block_number)
    const receipt = async () => ({ ...receiptOf(log), ok: false })
    assert.deepEqual((await read(nodeWith([log], { receipt })))?.deposits, [])
  }
})

test('a log that its receipt or block contradicts is a fault if final, and ignored if not', async () => {
  const contradictions: ((log: TransferLog) => Partial<DepositSource>)[] = [
    () => ({ receipt: async () => null }),
    (log) => ({ receipt: async () => ({ ...receiptOf(log), block_hash: 'other' }) }),
    (log) => ({ receipt: async () => ({ ...receiptOf(log), logs: [] }) }),
    (log) => ({ receipt: async () => receiptOf({ ...log, value: 1n }) }),
    (log) => ({ receipt: async () => receiptOf({ ...log, to: 'ef'.repeat(20) }) }),
    (log) => ({
      block: async (number) => blockHeader(number, number === log.block_number ? 'fork' : ''),
    }),
  ]
  for (const [at, contradict] of contradictions.entries()) {
    const final = transferAt(90)
    const fault = { name: 'Error', message: `the node contradicts itself about ${TXID}` }
    await assert.rejects(read(nodeWith([final], contradict(final))), fault, String(at))
    const recent = transferAt(110)
    const scan = await read(nodeWith([recent], contradict(recent)))
    assert.deepEqual(scan?.deposits, [], String(at))
  }
})

test('refuses a node whose final block is above its head', async () => {
  const source = nodeWith([], { finalized: async () => blockHeader(120) })
  await assert.rejects(read(source), ChainFault)
})

test('refuses a node that is behind the last final block, or on another fork of it', async () => {
  const behind = { finalized_number: 101n, finalized_hash: '101' }
  await assert.rejects(read(nodeWith([]), behind), /the node is behind/)
  const forked = { finalized_number: 99n, finalized_hash: 'fork99' }
  await assert.rejects(read(nodeWith([]), forked), /no longer on the chain/)
  assert.notEqual(await read(nodeWith([]), { finalized_number: 99n, finalized_hash: '99' }), null)
})

test('returns null if the head changed during the scan, and refuses a changed final block', async () => {
  const newHead = nodeWith([], {
    block: async (number) => blockHeader(number, number > 100 ? 'new' : ''),
  })
  assert.equal(await read(newHead), null)
  const newFinal = nodeWith([], { block: async (number) => blockHeader(number, 'new') })
  await assert.rejects(read(newFinal), /a final block changed/)
})

test('keeps a pending transfer without a log as long as the node has its receipt', async () => {
  const pending = { txid: TXID, ordinal: 1, value: '25', block_number: 110, is_late: false }
  await db.run(`update topups set status = 'confirming', pending = $1, pending_micros = 25`, [
    JSON.stringify([pending]),
  ])
  const moved = receiptOf(transferAt(112))
  const kept = await read(nodeWith([], { receipt: async () => moved }))
  assert.deepEqual(kept?.kept, [{ ...pending, block_number: 112 }])
  for (const receipt of [null, { ...moved, ok: false }, { ...moved, logs: [] }]) {
    const scan = await read(nodeWith([], { receipt: async () => receipt }))
    assert.deepEqual(scan?.kept, [])
  }
})
