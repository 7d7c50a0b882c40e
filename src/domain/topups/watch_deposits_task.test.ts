import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { SystemHealth } from '#contract/system.ts'
import { advance } from '#test/support/calls.ts'
import { send } from '#test/support/http.ts'
import { assertBooksSound } from '#test/support/money.ts'
import { openAccount } from '#test/support/people.ts'
import { startTestService } from '#test/support/start.ts'
import { awaitedTopup, balanceOf, onChain, topupOf } from '#test/support/topups.ts'

const service = await startTestService()
const { url, sandbox, tasks, database_url, data_dir } = service
const { node } = sandbox
const { db } = service.runtime
const { bearer } = await openAccount(url)
const WATCH = ['watch_deposits']

async function components(): Promise<SystemHealth['components']> {
  const reply = await send(url, 'GET', '/v1/system/health', { bearer })
  return reply.body['components']
}

test('health shows the block height and lag that the watcher measured', async () => {
  await tasks.run(WATCH)
  const { rails, network } = await components()
  assert.equal(network.status, 'operational')
  assert.equal(network.chain, 'tron')
  assert(Math.abs((network.block_height ?? 0) - node.head().number) <= 2)
  assert((network.lag_seconds ?? 99) < 30)
  assert.equal(rails.status, 'operational')
})

test('a lagging node stops crediting and shows in health; nothing is lost', async () => {
  const { id } = await awaitedTopup(url, bearer)
  await onChain({ url, bearer, id }, 'deposit', { amount_usd: 25 })
  node.mine(10)
  await tasks.run(WATCH)
  const end = node.fault({ kind: 'lagging_head', blocks: 40, times: 10_000 })
  node.mine(20)
  await tasks.run(WATCH)
  assert.equal((await topupOf(url, bearer, id)).status, 'confirming')
  const { network } = await components()
  assert.equal(network.status, 'degraded')
  assert.match(network.message ?? '', /behind/)
  end()
  await onChain({ url, bearer, id }, 'confirm')
  assert.equal((await topupOf(url, bearer, id)).credited_usd, 25)
  assert.equal((await components()).network.status, 'operational')
})

test('the audit of whole blocks does not credit a transfer of an address to itself', async () => {
  const { id, deposit_address: to } = await awaitedTopup(url, bearer)
  // The sandbox first sends the address the coins that it then transfers to itself.
  node.transferUsdt({ from: to, to, amount_micros: 25_000_000n })
  node.mine(60)
  await tasks.run(WATCH)
  for (let pass = 0; pass < 3; pass += 1) await tasks.run(['audit_deposits'])
  assert.equal((await topupOf(url, bearer, id)).received_usd, 25)
})

test('deposits missing from the logs are found by the audit of whole blocks', async () => {
  const { id, deposit_address: to } = await awaitedTopup(url, bearer)
  const end = node.fault({ kind: 'lost_logs', times: 10_000 })
  node.transferUsdt({ to, amount_micros: 25_000_000n })
  node.mine(60)
  await tasks.run(WATCH)
  assert.equal((await topupOf(url, bearer, id)).status, 'awaiting')
  for (let pass = 0; pass < 3; pass += 1) await tasks.run(['audit_deposits'])
  assert.equal((await topupOf(url, bearer, id)).credited_usd, 25)
  end()
  node.mine(20)
  await tasks.run([...WATCH, 'audit_deposits'])
  assert.equal((await topupOf(url, bearer, id)).credited_usd, 25)
  await assertBooksSound(db)
})

test('invalid responses and errors credit and expire nothing; watching resumes after them', async () => {
  const { id, deposit_address: to } = await awaitedTopup(url, bearer)
  const ends = [
    node.fault({ kind: 'garbage', times: 10_000, path: 'jsonrpc' }),
    node.fault({ kind: 'status', status: 500, times: 10_000, path: 'wallet' }),
  ]
  node.transferUsdt({ to, amount_micros: 25_000_000n })
  node.mine()
  await advance(url, bearer, 2 * 60 * 60)
  assert.equal((await topupOf(url, bearer, id)).status, 'awaiting')
  assert.notEqual((await components()).network.status, 'operational')
  for (const end of ends) end()
  const topup = await onChain({ url, bearer, id }, 'confirm')
  await tasks.run([...WATCH, 'expire_topups'])
  assert.equal(topup.credited_usd, 25)
  // It was paid in time, although it was read later.
  assert.equal(topup.payment_state, 'exact')
})

test('two nodes that watch one chain credit each transfer once', async () => {
  const other = await startTestService({ database_url, data_dir })
  const person = await openAccount(url)
  for (let round = 0; round < 4; round += 1) {
    const { id } = await awaitedTopup(url, person.bearer)
    await onChain({ url, bearer: person.bearer, id }, 'deposit', { amount_usd: 5 })
    await Promise.all([tasks.run(WATCH), other.tasks.run(WATCH)])
    node.mine(19)
    await Promise.all([tasks.run(WATCH), other.tasks.run(WATCH)])
    await onChain({ url: other.url, bearer: person.bearer, id }, 'confirm')
  }
  assert.equal((await balanceOf(url, person.bearer)).balance_usd, 20)
  await other.stop()
  await assertBooksSound(db)
})

test('a fork below the final block stops crediting and raises an alarm', async () => {
  await tasks.run(WATCH)
  const { id, deposit_address: to } = await awaitedTopup(url, bearer)
  const before = (await balanceOf(url, bearer)).balance_usd
  node.reorg({ depth: 30, keep: 'none' })
  node.transferUsdt({ to, amount_micros: 25_000_000n })
  node.mine(25)
  await tasks.run(WATCH)
  const { network } = await components()
  assert.equal(network.status, 'degraded')
  assert.match(network.message ?? '', /was final is no longer/)
  assert.equal((await topupOf(url, bearer, id)).status, 'awaiting')
  assert.equal((await balanceOf(url, bearer)).balance_usd, before)
})
