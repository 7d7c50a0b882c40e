import assert from 'node:assert/strict'
import { afterEach, test } from 'node:test'
import { startTronNode, type TronNode, type TronNodeOptions } from '#sandbox/tron_node.ts'

const DEPOSIT = 'TWer2Ygk5TEheHp3TPuYeqxmB6SsGZmaL6'
const START_MS = 1_790_000_000_000

const running: TronNode[] = []
afterEach(() => Promise.all(running.splice(0).map((node) => node.stop())))

async function start(options: TronNodeOptions): Promise<TronNode> {
  const node = await startTronNode(options)
  running.push(node)
  return node
}

/** Everything an outsider can see of the last blocks. */
async function seen(node: TronNode): Promise<unknown> {
  const request = { startNum: Math.max(1, node.head().number - 90), endNum: node.head().number + 1 }
  const answer = await fetch(`${node.url}/wallet/getblockbylimitnext`, {
    method: 'POST',
    body: JSON.stringify(request),
  })
  return answer.json()
}

test('a node started from a snapshot has the same chain, including forks', async () => {
  const node = await start({ now: () => START_MS })
  const txid = node.transferUsdt({
    to: DEPOSIT,
    amount_micros: 5n,
    from: 'TPjjvMwjPoDC32V2dGDYTkLH4E5LAtBZ6C',
  })
  node.mine(3)
  node.reorg({ depth: 3, keep: 'all' })
  node.mine(20)
  node.transferUsdt({ to: DEPOSIT, amount_micros: 6n })
  node.mine(2)
  node.transferUsdt({ to: DEPOSIT, amount_micros: 7n })
  const saved: ReturnType<TronNode['snapshot']> = JSON.parse(JSON.stringify(node.snapshot()))
  const before = await seen(node)
  const [head, balance] = [node.head(), node.balanceOf(DEPOSIT)]
  await node.stop()

  const again = await start({ now: () => START_MS, snapshot: saved })
  assert.deepEqual(await seen(again), before)
  assert.deepEqual(again.head(), head)
  assert.equal(again.balanceOf(DEPOSIT), balance)
  again.mine()
  assert.equal(again.balanceOf(DEPOSIT), 18n, 'what waited in the pool is mined')
  assert.equal(again.reorg({ depth: 27, keep: [txid] }).kept.includes(txid), true)
  assert.equal(again.balanceOf(DEPOSIT), 5n)
  again.restore(saved)
  assert.deepEqual(again.head(), head)
})

test('a day of empty blocks is a short snapshot', async () => {
  let clock_ms = START_MS
  const node = await start({ now: () => clock_ms, block_interval_ms: 3_000 })
  for (let hour = 0; hour < 24; hour += 1) {
    clock_ms += 3_600_000
    node.head()
  }
  assert.equal(node.head().number, 20 + 24 * 40)
  const saved = node.snapshot()
  assert(JSON.stringify(saved).length < 20_000)
  const head = node.head()
  node.restore(saved)
  assert.deepEqual(node.head(), head)
})

test('blocks follow the clock and include the pool, and a clock jump adds at most 40', async () => {
  let clock_ms = START_MS
  const node = await start({ now: () => clock_ms, block_interval_ms: 3_000 })
  const first = node.head().number
  node.transferUsdt({ to: DEPOSIT, amount_micros: 5n })
  clock_ms += 2_999
  assert.equal(node.head().number, first)
  clock_ms += 1
  assert.equal(node.head().number, first + 1)
  assert.equal(node.balanceOf(DEPOSIT), 5n)
  clock_ms += 18 * 3_000
  assert.equal(node.finalized().number, first + 1)
  clock_ms += 30 * 86_400_000
  assert.equal(node.head().number, first + 19 + 40)
  assert(clock_ms - node.head().timestamp_ms < 3_000)
})

test('blocks on demand keep chain time behind the clock', async () => {
  let clock_ms = START_MS
  const node = await start({ now: () => clock_ms })
  clock_ms += 1_000
  node.mine(100)
  assert.equal(node.head().timestamp_ms, clock_ms)
  node.mine(100)
  assert(node.head().timestamp_ms - clock_ms <= 100)
})
