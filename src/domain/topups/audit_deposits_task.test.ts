import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { AssetTransfer } from '#rails/chain/deposit_source.ts'
import { blockHeader } from '#test/support/deposit_node.ts'
import { openMoneyRoom, SENDER } from '#test/support/money_room.ts'
import { auditDepositsTask } from './audit_deposits_task.ts'
import { advanceCursor, findCursor } from './chain_store.ts'
import { ChainFault } from './read_deposits.ts'
import type { TopupRow } from './topup.ts'
import { findTopupOf } from './topup_store.ts'

const room = await openMoneyRoom()
const { db, chain, dependencies, clock } = room
const VALUE = 25_000_000n
let number = 100

/** Makes the next block final, whose only transaction is this transfer, and audits it. */
async function audit(
  transfer: AssetTransfer,
  block: (number: number) => ReturnType<typeof blockHeader> | null = blockHeader,
): Promise<void> {
  const at = { chain: chain.name, head: blockHeader(number), now: clock.now() }
  await advanceCursor(db, { ...at, finalized: blockHeader(number) })
  const source = {
    finalNumber: async () => number,
    block: async (one: number) => block(one),
    receipts: async (one: number) =>
      one === number ? [{ txid: `${one}`.padStart(64, 'd'), transfers: [transfer] }] : [],
  }
  await auditDepositsTask(dependencies, [{ chain, source, check: async () => undefined }]).run()
}

const transferTo = ({ deposit_address }: TopupRow, from?: string): AssetTransfer => {
  const to = chain.readAddress(deposit_address) ?? ''
  return { contract: chain.assets[0]?.contract ?? '', from: from ?? to, to, value: VALUE }
}

const creditedTo = async ({ account_id, id }: TopupRow) =>
  (await findTopupOf(db, account_id, id)).credited_micros

/** The first block of a chain is its start, so it is not audited. */
await advanceCursor(db, {
  chain: chain.name,
  head: blockHeader(number),
  finalized: blockHeader(number),
  now: clock.now(),
})

test('a deposit whose block the node cannot show is audited again, and not lost', async () => {
  const topup = await room.openTopup(await room.openAccount())
  number += 1
  let shown = 0
  const showOnce = (one: number) => {
    shown += 1
    return shown === 1 ? blockHeader(one) : null
  }
  await assert.rejects(audit(transferTo(topup, SENDER), showOnce), ChainFault)
  assert.equal(await creditedTo(topup), 0n)
  await audit(transferTo(topup, SENDER))
  assert.equal(await creditedTo(topup), VALUE)
})

test('a node on another chain credits nothing, and the watcher stops until both agree', async () => {
  const topup = await room.openTopup(await room.openAccount())
  number += 1
  const onFork = (one: number) => blockHeader(one, 'fork')
  await assert.rejects(audit(transferTo(topup, SENDER), onFork), /different blocks at/)
  assert.equal(await creditedTo(topup), 0n)
  assert.match((await findCursor(db, chain.name))?.audit_fault ?? '', /different blocks at/)
  await audit(transferTo(topup, SENDER))
  assert.equal((await findCursor(db, chain.name))?.audit_fault, null)
  assert.equal(await creditedTo(topup), VALUE)
})

test('a transfer of a deposit address to itself is credited by no audit', async () => {
  const topup = await room.openTopup(await room.openAccount())
  number += 1
  await audit(transferTo(topup))
  assert.equal(await creditedTo(topup), 0n)
})
