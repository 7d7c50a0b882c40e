import assert from 'node:assert/strict'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, afterEach, test } from 'node:test'
import { Journal } from '#sandbox/journal.ts'
import { startTronNode, type TronNode, type TronNodeOptions } from '#sandbox/tron_node.ts'
import { blockId } from './block.ts'
import { Chain } from './chain.ts'
import { Exchange } from './exchange.ts'
import { type TronChange, type TronSnapshot, takeChange } from './snapshot.ts'
import type { SnapshotV1 } from './snapshot_v1.ts'

const DEPOSIT = 'TWer2Ygk5TEheHp3TPuYeqxmB6SsGZmaL6'
const START_MS = 1_790_000_000_000
const INTERVAL_MS = 3_000
const DAY_MS = 86_400_000

const folder = mkdtempSync(join(tmpdir(), 'florin_chain_'))
after(() => rmSync(folder, { recursive: true, force: true }))
const running: TronNode[] = []
afterEach(() => Promise.all(running.splice(0).map((node) => node.stop())))

async function start(options: TronNodeOptions): Promise<TronNode> {
  const node = await startTronNode(options)
  running.push(node)
  return node
}

/** A node as the sandbox runs it, on a file. */
async function startOn(name: string, now: () => number): Promise<TronNode> {
  const journal = new Journal<TronSnapshot, TronChange>(join(folder, name))
  return start({
    now,
    block_interval_ms: INTERVAL_MS,
    ...journal.read(),
    persist: (change, snapshot) => journal.append(change, snapshot),
  })
}

async function blockAt(node: TronNode, num: number): Promise<{ blockID: string }> {
  const body = JSON.stringify({ num })
  const answer = await fetch(`${node.url}/wallet/getblockbynum`, { method: 'POST', body })
  return (await answer.json()) as { blockID: string }
}

test('90 idle days store no block, compute no hash and save a few bytes', () => {
  let clock_ms = START_MS
  const chain = new Chain({
    chain_id: 1,
    now: () => clock_ms,
    block_interval_ms: INTERVAL_MS,
    assets: [],
    takeFault: () => false,
  })
  Exchange.fundAtGenesis(chain)
  chain.append(START_MS, [])
  takeChange(chain)
  const look_ms = 120_000
  let bytes_max = 0
  while (clock_ms < START_MS + 90 * DAY_MS) {
    clock_ms += look_ms
    chain.catchUp()
    bytes_max = Math.max(bytes_max, JSON.stringify(takeChange(chain)).length)
  }
  assert.equal(chain.head_number, (90 * DAY_MS) / INTERVAL_MS)
  assert.equal(chain.blocks.kept_count, 0)
  assert.equal(chain.blocks.run_count, 1)
  assert.equal(chain.blocks.hashed_count, 0)
  assert(bytes_max < 200, `a save of ${bytes_max} bytes`)
})

test('a save after a transfer writes only that transfer', async () => {
  let clock_ms = START_MS
  const sizes: number[] = []
  const persist = (change: TronChange) => void sizes.push(JSON.stringify(change).length)
  const node = await start({ now: () => clock_ms, block_interval_ms: INTERVAL_MS, persist })
  for (let transfer = 0; transfer < 60; transfer += 1) {
    node.transferUsdt({ to: DEPOSIT, amount_micros: 5n })
    clock_ms += INTERVAL_MS
    node.save()
  }
  const [early, late] = [Math.max(...sizes.slice(5, 10)), Math.max(...sizes.slice(-10))]
  assert(late < early * 1.2, `${early} bytes for an early save, ${late} for a late one`)
})

test('a final block is the same after a crash, also after a clock jump', async () => {
  let clock_ms = START_MS
  const node = await startOn('leap.json', () => clock_ms)
  clock_ms += 20 * DAY_MS
  const final = node.finalized()
  clock_ms += 40_000
  node.head()
  await node.stop()

  clock_ms += DAY_MS
  const again = await startOn('leap.json', () => clock_ms)
  assert.equal((await blockAt(again, final.number)).blockID, final.id)
  assert(again.finalized().number > final.number)
})

test('a chain is restored from its changes, with forks and from a truncated file', async () => {
  let clock_ms = START_MS
  const node = await startOn('cut.json', () => clock_ms)
  node.save()
  const txid = node.transferUsdt({ to: DEPOSIT, amount_micros: 5n })
  clock_ms += 2 * INTERVAL_MS
  node.save()
  node.reorg({ depth: 2, keep: 'all' })
  node.save()
  clock_ms += 5 * INTERVAL_MS
  node.save()
  const [head, found] = [node.head(), node.blockOf(txid)]
  await node.stop()
  const path = join(folder, 'cut.json')
  writeFileSync(path, `${readFileSync(path, 'utf8')}{"fork":1,"wor`)

  const again = await startOn('cut.json', () => clock_ms)
  assert.deepEqual([again.head(), again.blockOf(txid)], [head, found])
  assert.equal(again.balanceOf(DEPOSIT), 5n)
  again.save()
  await again.stop()
  assert.deepEqual((await startOn('cut.json', () => clock_ms)).head(), head)
})

test('the recent blocks of a version 1 snapshot keep their IDs', async () => {
  const genesis = { number: 0, parent_id: '0'.repeat(64), timestamp_ms: START_MS }
  const first = { ...genesis, id: blockId(genesis, [], 0), fork: 0, mined: [], undo: [] }
  const ids = [first.id]
  for (let number = 1; number <= 2_000; number += 1) {
    const timestamp_ms = START_MS + number * INTERVAL_MS
    ids.push(blockId({ number, parent_id: ids.at(-1) ?? '', timestamp_ms }, [], 0))
  }
  const run = { fork: 0, step_ms: INTERVAL_MS, count: 2_000 }
  const world: [string, string][] = [['trx:ab', '7']]
  const chain = { version: 1, chain_id: 1, fork: 0, world, pool: [] } as const
  const snapshot: SnapshotV1 = { ...chain, pool: [], blocks: [first, run] }
  const node = await start({ now: () => START_MS, chain_id: 1, snapshot })
  assert.equal(node.head().id, ids[2_000])
  assert.equal(node.finalized().id, ids[1_982])
  assert.equal((await blockAt(node, 1_500)).blockID, ids[1_500])
  const again = await start({ now: () => START_MS, chain_id: 1, snapshot: node.snapshot() })
  assert.deepEqual(again.finalized(), node.finalized())
})
