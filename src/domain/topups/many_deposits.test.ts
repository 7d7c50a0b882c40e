import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setImmediate } from 'node:timers/promises'
import type { Topup } from '#contract/topups.ts'
import type { Database, Tx } from '#platform/postgres/db.ts'
import type { TransferLog } from '#rails/chain/deposit_source.ts'
import { blockHeader, nodeWith, receiptOf } from '#test/support/deposit_node.ts'
import { assertBooksSound } from '#test/support/money.ts'
import { openMoneyRoom, SENDER } from '#test/support/money_room.ts'
import { findCursor } from './chain_store.ts'
import { settleDeposits } from './settle_deposits.ts'
import { makeTopupView, type TopupRow } from './topup.ts'
import { findTopupOf } from './topup_store.ts'
import { watchDepositsTask } from './watch_deposits_task.ts'

const room = await openMoneyRoom()
const { db, chain, dependencies } = room
const check = async () => undefined
const CENT = 10_000n
let sent = 0

function transferTo({ deposit_address }: TopupRow, value: bigint): TransferLog {
  sent += 1
  const to = chain.readAddress(deposit_address) ?? ''
  const [asset] = chain.assets
  return {
    ...{ contract: asset?.contract ?? '', from: SENDER, to, value, log_index: 7 },
    ...{ txid: sent.toString(16).padStart(64, '0'), block_number: 90, block_hash: '90' },
  }
}

const transfersTo = (topup: TopupRow, count: number, value: bigint) =>
  Array.from({ length: count }, () => transferTo(topup, value))

const reload = ({ account_id, id }: TopupRow) => findTopupOf(db, account_id, id)

/** Counts the rows that statements return, and the most rows of chain_transfers per transaction. */
function counting(inner: Database) {
  const counts = { rows: 0, transfers_max: 0 }
  const transaction: Database['transaction'] = (work) =>
    inner.transaction((tx, commitWith) => {
      let transfers = 0
      const rows: Tx['rows'] = async (sql, params) => {
        const found = await tx.rows<never>(sql, params)
        counts.rows += found.length
        return found
      }
      const run: Tx['run'] = (sql, params) => {
        if (sql.startsWith('insert into chain_transfers')) transfers += 1
        counts.transfers_max = Math.max(counts.transfers_max, transfers)
        return tx.run(sql, params)
      }
      return work({ ...tx, rows, run }, commitWith)
    })
  return { counts, counted: { ...inner, transaction } }
}

test('500 transfers to one address cost a bounded amount each, and do not hold up others', async () => {
  const many = await room.openTopup(await room.openAccount())
  const other = await room.openTopup(await room.openAccount())
  const logs = [...transfersTo(many, 500, CENT), transferTo(other, 25_000_000n)]
  let reading = 0
  let reading_most = 0
  const receipt = async (txid: string) => {
    reading += 1
    reading_most = Math.max(reading_most, reading)
    await setImmediate()
    reading -= 1
    const log = logs.find((one) => one.txid === txid)
    return log === undefined ? null : receiptOf(log)
  }
  const { counts, counted } = counting(db)
  const source = nodeWith(logs, { receipt })
  await watchDepositsTask({ ...dependencies, db: counted }, [{ chain, source, check }]).run()

  assert.equal(reading_most, 10)
  assert.equal(counts.transfers_max, 100)
  assert(counts.rows < 501 * 10, `${counts.rows} rows were read`)
  const settled = await reload(many)
  assert.deepEqual(
    [settled.status, settled.credited_micros, settled.txids.length],
    ['completed', 500n * CENT, 500],
  )
  const [first, last] = await db.rows<{ account_id: string }>(
    `(select account_id from events where type = 'topup.confirmed' order by id limit 1)
     union all
     (select account_id from events where type = 'topup.confirmed' order by id desc limit 1)`,
  )
  assert.deepEqual([first?.account_id, last?.account_id], [other.account_id, many.account_id])
  await assertBooksSound(db)

  const bodies = await db.rows<{ body: string }>(
    `select body from events where account_id = $1 and sequence is not null order by sequence`,
    [many.account_id],
  )
  const objects = bodies.slice(1).map(({ body }): Topup => JSON.parse(body).data.object)
  assert(bodies.every(({ body }) => Buffer.byteLength(body) <= 20_000))
  assert.deepEqual(
    objects.map(({ version }) => version),
    objects.map((_, at) => at + 2),
  )
  const { txids, ...shown } = makeTopupView(dependencies.settings)(settled)
  const { txids: named, ...at_last } = objects.at(-1) ?? ({} as Topup)
  assert.deepEqual([at_last, named], [{ ...shown, confirmations: 30 }, txids.slice(-20)])
})

test('the last event shows the top-up as it is stored, although time passes', async () => {
  const topup = await room.openTopup(await room.openAccount())
  const { account_id, id: topup_id, asset } = topup
  const screening = { decision: 'allow', source: 'a test', list_version: '1' } as const
  const final_transfers = transfersTo(topup, 2, 1_000_000n).map((log) => ({
    ...{ ...log, ordinal: 0, asset, address: log.to, account_id, topup_id, screening },
    block_at: room.clock.now(),
  }))
  const now = () => {
    room.clock.pass(1)
    return room.clock.now()
  }
  const ticking = { ...dependencies, clock: { ...dependencies.clock, now } }
  await settleDeposits(ticking, chain, { account_id, topup_id, final_transfers, pending: null })
  const bodies = await db.rows<{ body: string }>(
    `select body from events where account_id = $1 and type = 'topup.confirmed' order by sequence`,
    [account_id],
  )
  const shown: Topup[] = bodies.map(({ body }) => JSON.parse(body).data.object)
  assert.deepEqual(shown.at(-1), makeTopupView(dependencies.settings)(await reload(topup)))
})

test('an event names a transaction with several transfers once', async () => {
  const topup = await room.openTopup(await room.openAccount())
  const { account_id, id: topup_id, asset } = topup
  const screening = { decision: 'allow', source: 'a test', list_version: '1' } as const
  const depositIn = (log: TransferLog, ordinal: number) => ({
    ...{ ...log, ordinal, asset, address: log.to, account_id, topup_id, screening },
    block_at: room.clock.now(),
  })
  const [single, double] = [transferTo(topup, 1_000_000n), transferTo(topup, 1_000_000n)]
  await settleDeposits(dependencies, chain, {
    ...{ account_id, topup_id },
    final_transfers: [depositIn(single, 0), depositIn(double, 0)],
    pending: { seen: [depositIn(double, 1), depositIn(double, 2)], kept: [] },
  })
  const bodies = await db.rows<{ body: string }>(
    `select body from events where account_id = $1 and type = 'topup.confirmed' order by sequence`,
    [account_id],
  )
  const { txids } = await reload(topup)
  assert.equal(txids.length, 2)
  const named = bodies.map(({ body }) => JSON.parse(body).data.object.txids)
  assert.deepEqual(named, [txids, txids])
})

test('a top-up that fails holds up no other; its deposits are credited once it works', async () => {
  const [broken, next] = [
    await room.openTopup(await room.openAccount()),
    await room.openTopup(await room.openAccount()),
  ]
  const logs = [transferTo(broken, 5_000_000n), transferTo(next, 5_000_000n)]
  const finalized = async () => blockHeader(101)
  const watch = (screener: typeof dependencies.screener) => {
    const source = nodeWith(logs, { finalized, head: async () => blockHeader(125) })
    return watchDepositsTask({ ...dependencies, screener }, [{ chain, source, check }]).run()
  }
  room.clock.pass(30_000)
  let screened = 0
  const failing = async (input: Parameters<typeof dependencies.screener.screen>[0]) => {
    screened += 1
    if (screened === 1) throw new Error('no response')
    return dependencies.screener.screen(input)
  }
  const isUnsettled = {
    message: 'not all deposits could be settled',
    cause: new Error('no response'),
  }
  await assert.rejects(watch({ ...dependencies.screener, screen: failing }), isUnsettled)
  const credited = async () => [
    (await reload(broken)).credited_micros,
    (await reload(next)).credited_micros,
  ]
  assert.deepEqual(await credited(), [0n, 5_000_000n])
  const { finalized_number, head_number, scanned_at, fault } =
    (await findCursor(db, chain.name)) ?? {}
  assert.deepEqual([finalized_number, head_number, scanned_at], [100n, 125n, room.clock.now()])
  assert.equal(fault, isUnsettled.message, 'no top-up of this chain expires')
  await watch(dependencies.screener)
  assert.deepEqual(await credited(), [5_000_000n, 5_000_000n])
  assert.equal((await findCursor(db, chain.name))?.finalized_number, 101n)
})
