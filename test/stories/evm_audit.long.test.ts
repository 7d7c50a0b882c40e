import assert from 'node:assert/strict'
import { test } from 'node:test'
import { eventually } from '#test/support/eventually.ts'
import { CONFIRMATIONS, startEvmNode, startEvmService } from '#test/support/evm.ts'
import { send } from '#test/support/http.ts'
import { startLyingNode } from '#test/support/lying_node.ts'
import { assertBooksSound } from '#test/support/money.ts'
import { openAccount } from '#test/support/people.ts'
import { balanceOf, topupIn, topupOf } from '#test/support/topups.ts'

const node = await startEvmNode()
const liar = await startLyingNode(node.url)
const second = await startLyingNode(node.url)
const service = await startEvmService(node, { url: liar.url, audit_url: second.url })
const { url, tasks } = service
const { db } = service.runtime
const { bearer } = await openAccount(url)
const LOOK = ['watch_deposits', 'audit_deposits']

async function awaited() {
  const body = { amount_usd: 25, asset: 'USDC', chain: 'ethereum' }
  return topupIn(await send(url, 'POST', '/v1/topups', { bearer, body }))
}

const health = async () =>
  (await send(url, 'GET', '/v1/system/health', { bearer })).body['components'] as {
    rails: { status: string; message: string | null }
  }

await node.mine(CONFIRMATIONS)
await tasks.run(LOOK)

test('deposits missing from the logs are found by the audit and credited once', async () => {
  const { id, deposit_address: to } = await awaited()
  const end = liar.lieAbout('eth_getLogs', () => [])
  await node.pay(to, 10_000_000n)
  await node.mine(CONFIRMATIONS)
  for (let look = 0; look < 3; look += 1) await tasks.run(LOOK)
  assert.equal((await topupOf(url, bearer, id)).credited_usd, 10)
  end()
  for (let look = 0; look < 3; look += 1) await tasks.run(LOOK)
  const { status, credited_usd, txids } = await topupOf(url, bearer, id)
  assert.deepEqual([status, credited_usd, txids.length], ['completed', 10, 1])
  assert.equal((await balanceOf(url, bearer)).balance_usd, 10)
  await assertBooksSound(db)
})

type Log = { transactionHash: string; topics: [string, string, string] }
type Receipt = { status: string; blockNumber: string; logs: Log[] }

test('a Transfer log that its receipt does not bear out credits nothing', async () => {
  const { id, deposit_address: to } = await awaited()
  const before = (await balanceOf(url, bearer)).balance_usd
  await node.rpc('miner_stop')
  const failed = await node.pay(to, 10n ** 30n)
  const elsewhere = await node.pay(node.outside.account.address, 25_000_000n)
  await node.rpc('miner_start')
  await node.mine(CONFIRMATIONS)
  const [refused, paid] = (await Promise.all(
    [failed, elsewhere].map((txid) => node.rpc('eth_getTransactionReceipt', [txid])),
  )) as [Receipt, Receipt]
  assert.deepEqual([refused.status, refused.logs, paid.status], ['0x0', [], '0x1'])
  assert.equal(refused.blockNumber, paid.blockNumber)
  for (let look = 0; look < 2; look += 1) await tasks.run(LOOK)
  assert.equal((await topupOf(url, bearer, id)).received_usd, 0)

  // A node with a corrupt index returns a foreign log as one of ours.
  const [log] = paid.logs
  assert(log !== undefined)
  const to_us = `0x${to.slice(2).toLowerCase().padStart(64, '0')}`
  const ours: Log = { ...log, topics: [log.topics[0], log.topics[1], to_us] }
  for (const told of [{ ...ours, transactionHash: failed }, ours]) {
    const end = liar.lieAbout('eth_getLogs', () => [told])
    await tasks.run(LOOK)
    assert.equal((await topupOf(url, bearer, id)).received_usd, 0)
    end()
  }
  await tasks.run(LOOK)
  assert.equal((await topupOf(url, bearer, id)).status, 'awaiting')
  assert.equal((await balanceOf(url, bearer)).balance_usd, before)
  await assertBooksSound(db)
})

test('a second node that is behind is waited for, and nothing is passed over', async () => {
  const { id, deposit_address: to } = await awaited()
  const end = liar.lieAbout('eth_getLogs', () => [])
  const stale = await node.rpc('eth_getBlockByNumber', ['latest', false])
  const catchUp = second.lieAbout('eth_getBlockByNumber', () => stale)
  await node.pay(to, 5_000_000n)
  await node.mine(CONFIRMATIONS)
  await tasks.run(LOOK)
  assert.equal((await topupOf(url, bearer, id)).received_usd, 0)
  catchUp()
  // A look stops after two seconds, so on a slow machine the next one goes on from there.
  const isCredited = async () => {
    await tasks.run(LOOK)
    return (await topupOf(url, bearer, id)).credited_usd === 5
  }
  assert(await eventually(isCredited, { within_ms: 15_000 }))
  end()
})

test('a credited transfer that the second node does not know raises the alarm', async () => {
  const { id, deposit_address: to } = await awaited()
  const { number } = (await node.rpc('eth_getBlockByNumber', ['latest', false])) as {
    number: string
  }
  const forget = second.lieAbout('eth_getBlockByNumber', (truth) => {
    const block = truth as { number: string; transactions: string[] }
    return BigInt(block.number) > BigInt(number) ? { ...block, transactions: [] } : block
  })
  await node.pay(to, 6_000_000n)
  await node.mine(CONFIRMATIONS)
  await tasks.run(['watch_deposits'])
  assert.equal((await topupOf(url, bearer, id)).credited_usd, 6)
  const isAlarmed = async () => {
    await tasks.run(LOOK)
    return (await health()).rails.status === 'degraded'
  }
  assert(await eventually(isAlarmed, { within_ms: 15_000 }))
  assert.match((await health()).rails.message ?? '', /does not contain the recorded transfer/)
  const next = await awaited()
  await node.pay(next.deposit_address, 7_000_000n)
  await node.mine(CONFIRMATIONS)
  await tasks.run(LOOK)
  assert.equal((await topupOf(url, bearer, next.id)).received_usd, 0)
  forget()
  const isWell = async () => !(await isAlarmed())
  assert(await eventually(isWell, { within_ms: 15_000 }))
  await tasks.run(LOOK)
  assert.equal((await topupOf(url, bearer, next.id)).credited_usd, 7)
  await assertBooksSound(db)
})
