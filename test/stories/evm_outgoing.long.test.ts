import assert from 'node:assert/strict'
import { test } from 'node:test'
import { parseTransaction } from 'viem'
import type { Failpoint } from '#platform/runtime/failpoints.ts'
import { evmAddressFromBytes } from '#rails/chain/evm/address.ts'
import { advance } from '#test/support/calls.ts'
import { eventually } from '#test/support/eventually.ts'
import { CONFIRMATIONS, startEvmNode, startEvmService } from '#test/support/evm.ts'
import { send } from '#test/support/http.ts'
import { assertBooksSound } from '#test/support/money.ts'
import { openAccount } from '#test/support/people.ts'
import { balanceOf, topupIn } from '#test/support/topups.ts'
import { withdrawalOf } from '#test/support/withdrawals.ts'

const OUTSIDER = evmAddressFromBytes(new Uint8Array(20).fill(0xcd))
const node = await startEvmNode()
const tether = await node.deploy()
/** The number of crashes after a replacement was signed and before it was stored. */
let deaths = 0
const fail = (point: Failpoint) => {
  if (point !== 'after_replacement_signed' || deaths === 0) return
  deaths -= 1
  throw new Error('the process has died')
}
const settings = {
  assets: [
    { asset: 'USDC', contract: node.asset },
    { asset: 'USDT', contract: tether },
  ],
  bump_after_seconds: 60,
  sweep_min_usd: 20,
}
const service = await startEvmService(node, settings, { fail })
const { url, tasks, hot_wallet } = service
const { db } = service.runtime
const { bearer } = await openAccount(url)
await node.giveCoins(hot_wallet)

const OUT = ['send_withdrawals', 'confirm_withdrawals']

async function paid(micros: bigint, asset: 'USDC' | 'USDT'): Promise<string> {
  const body = { amount_usd: 25, asset, chain: 'ethereum' }
  const { deposit_address: to } = topupIn(await send(url, 'POST', '/v1/topups', { bearer, body }))
  await node.pay(to, micros, asset === 'USDC' ? node.asset : tether)
  await node.mine(CONFIRMATIONS)
  await tasks.run(['watch_deposits'])
  return to
}

function passing(is: () => Promise<boolean>, names: readonly string[]): Promise<boolean> {
  const look = async () => {
    await tasks.run([...names])
    await node.mine(1)
    return is()
  }
  return eventually(look, { within_ms: 60_000 })
}

async function asked(amount_usd: number): Promise<string> {
  const body = { amount_usd, address: OUTSIDER, asset: 'USDC', chain: 'ethereum' }
  const reply = await send(url, 'POST', '/v1/withdrawals', { bearer, body })
  assert.equal(reply.status, 201, reply.text)
  return String(reply.body['id'])
}

const statusOf = async (id: string) => (await withdrawalOf({ url, bearer }, id)).status
const transfersOf = (id: string) =>
  db.rows<{ attempt: number; nonce: bigint; raw: string }>(
    `select attempt, nonce, raw from withdrawal_transfers
      where withdrawal_id = $1 order by attempt`,
    [id],
  )

test('a sweep brings each asset to the hot wallet, fuel first, and no balance changes', async () => {
  const coins = await paid(60_000_000n, 'USDC')
  const tethers = await paid(40_000_000n, 'USDT')
  const small = await paid(5_000_000n, 'USDC')
  const isSwept = async () => (await node.held(hot_wallet, tether)) === 40_000_000n
  const isDone = async () => (await isSwept()) && (await node.held(hot_wallet)) === 60_000_000n
  const sweeps = () => db.rows('select step, attempt, value_micros, fuel from sweeps')
  assert(await passing(isDone, ['sweep_deposits']), JSON.stringify(await sweeps(), bigints))
  assert.deepEqual(
    [await node.held(coins), await node.held(tethers, tether), await node.held(small)],
    [0n, 0n, 5_000_000n],
  )
  assert.equal((await balanceOf(url, bearer)).balance_usd, 105)
  const settled = async () =>
    (await db.rows(`select 1 from sweeps where step <> 'done'`)).length === 0
  assert(await passing(settled, ['sweep_deposits']))
  assert.equal((await sweeps()).length, 2)
  await assertBooksSound(db)
})

test('a later deposit to a swept address is swept again, with the next nonce', async () => {
  const to = await paid(30_000_000n, 'USDC')
  const isEmpty = async () => (await node.held(to)) === 0n
  assert(await passing(isEmpty, ['sweep_deposits']))
  const isOver = async () =>
    (await db.rows(`select 1 from sweeps where step not in ('done', 'failed')`)).length === 0
  assert(await passing(isOver, ['sweep_deposits']))
  await node.pay(to, 25_000_000n)
  await node.mine(CONFIRMATIONS)
  await tasks.run(['watch_deposits'])
  assert(await passing(isEmpty, ['sweep_deposits']))
  assert(await passing(isOver, ['sweep_deposits']))
  const nonces = await db.rows<{ nonce: bigint }>(
    `select t.nonce from sweep_transfers t
       join deposit_addresses d on d.chain = t.chain and d.address = t.address
       join topups u on u.account_id = d.account_id and u.id = d.topup_id
      where u.deposit_address = $1 and t.leg = 'asset' order by t.number`,
    [to],
  )
  assert.deepEqual(
    nonces.map(({ nonce }) => nonce),
    [0n, 1n],
  )
  await assertBooksSound(db)
})

test('a stuck transfer is replaced at a higher price with the same nonce', async () => {
  const before = await node.held(OUTSIDER)
  await node.rpc('miner_stop')
  const [first, second] = [await asked(11), await asked(12)]
  // Another node may hold the lease, so a run may do nothing.
  const trying = async (is: () => Promise<boolean>) => {
    await tasks.run(OUT)
    return is()
  }
  const areOut = async () =>
    (await Promise.all([first, second].map(statusOf))).every((status) => status === 'broadcasted')
  assert(await eventually(() => trying(areOut), { within_ms: 15_000 }))
  deaths = 2
  await advance(url, bearer, 61)
  const isRaised = async () => (await transfersOf(second)).length > 1
  assert(await eventually(() => trying(isRaised), { within_ms: 15_000 }))
  assert.equal(deaths, 0)
  const raised = await transfersOf(first)
  assert.equal(raised.length, 2)
  assert.equal(raised[0]?.nonce, raised[1]?.nonce)
  const [offered = 0n, better = 0n] = raised.map(({ raw }) => {
    const { maxFeePerGas } = parseTransaction(`0x${raw}`)
    return maxFeePerGas ?? 0n
  })
  assert(better * 10n >= offered * 11n, `${offered}, then ${better}`)
  await node.rpc('miner_start')
  const areDone = async () =>
    (await Promise.all([first, second].map(statusOf))).every((status) => status === 'completed')
  assert(await passing(areDone, OUT), JSON.stringify(await transfersOf(first), bigints))
  assert.equal((await node.held(OUTSIDER)) - before, 21_000_000n)
  const { txid } = await withdrawalOf({ url, bearer }, first)
  const receipt = await node.outside.getTransactionReceipt({ hash: txid as `0x${string}` })
  assert.equal(receipt.status, 'success')
  await assertBooksSound(db)
})

test('no place in the order is given twice or left out', async () => {
  const ids = [await asked(10), await asked(10), await asked(10)]
  const areDone = async () =>
    (await Promise.all(ids.map(statusOf))).every((status) => status === 'completed')
  assert(await passing(areDone, [...OUT, 'sweep_deposits']))
  const used = await db.rows<{ nonce: bigint }>(
    `select distinct nonce from (
       select nonce from withdrawal_transfers where nonce is not null
       union all
       select nonce from sweep_transfers where leg = 'fuel') t order by nonce`,
  )
  assert.deepEqual(
    used.map(({ nonce }) => nonce),
    used.map((_, place) => BigInt(place)),
  )
  const mined = await node.outside.getTransactionCount({ address: hot_wallet as `0x${string}` })
  assert.equal(used.length, mined)
})

test('a withdrawal for which the hot wallet lacks coins waits and stops no other', async () => {
  const held = Number((await node.held(hot_wallet)) / 1_000_000n)
  const large = await asked(held + 10)
  const small = await asked(10)
  const isDone = (id: string) => async () => (await statusOf(id)) === 'completed'
  assert(await passing(isDone(small), OUT))
  const { status, status_reason } = await withdrawalOf({ url, bearer }, large)
  assert.deepEqual([status, status_reason], ['pending', 'review'])
  await node.pay(hot_wallet, 100_000_000n)
  await advance(url, bearer, 61)
  assert(await passing(isDone(large), OUT))
  await assertBooksSound(db)
})

function bigints(_: string, value: unknown): unknown {
  return typeof value === 'bigint' ? value.toString() : value
}
