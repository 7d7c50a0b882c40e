import assert from 'node:assert/strict'
import { beforeEach, test } from 'node:test'
import { openMoneyRoom, ROOM_NOW } from '#test/support/money_room.ts'
import { chainProbes } from './chain_health.ts'
import { advanceAudit, advanceCursor, recordFault, recordUnsettled } from './chain_store.ts'

const { db, dependencies } = await openMoneyRoom()
const probes = chainProbes(dependencies)

beforeEach(async () => {
  await db.run('delete from chain_cursors')
  await db.run('delete from chain_faults')
})

const before = (seconds: number) => new Date(ROOM_NOW.getTime() - seconds * 1_000)

/** The watcher read the chain this many seconds ago, when its head had this age. */
async function readChain({ read_s = 0, head_s = 0, final = 100 } = {}): Promise<void> {
  const head = { number: final + 19, hash: 'bb', timestamp_ms: before(head_s).getTime() }
  const finalized = { number: final, hash: 'aa', timestamp_ms: 0 }
  await advanceCursor(db, { chain: 'tron', head, finalized, now: before(read_s) })
}

async function assertHealth(status: string, message: RegExp | null): Promise<void> {
  for (const health of [await probes.rails(), await probes.network()]) {
    assert.equal(health.status, status)
    if (message === null) assert.equal(health.message, null)
    else assert.match(health.message ?? '', message)
  }
}

test('a chain that was never read is an outage and shows its fault', async () => {
  await assertHealth('outage', /^tron has not been read yet\.$/)
  await recordFault(db, 'tron', { fault: 'wrong chain id', now: ROOM_NOW })
  await assertHealth('outage', /^tron is not read: wrong chain id\.$/)
  const { block_height, lag_seconds } = await probes.network()
  assert.deepEqual([block_height, lag_seconds], [null, null])
})

test('a chain is degraded after 60 seconds and down after 600, by its head or its last scan', async () => {
  for (const key of ['read_s', 'head_s'] as const) {
    for (const [seconds, status] of [
      [60, 'operational'],
      [61, 'degraded'],
      [600, 'degraded'],
      [601, 'outage'],
    ] as const) {
      await db.run('delete from chain_cursors')
      await readChain({ [key]: seconds })
      const health = await probes.rails()
      assert.equal(health.status, status, `${key} ${seconds}`)
    }
  }
})

test('a fault degrades the chain until the next successful scan', async () => {
  await readChain()
  await recordFault(db, 'tron', { fault: 'the node is behind', now: ROOM_NOW })
  await assertHealth('degraded', /credits nothing: the node is behind/)
  await readChain()
  await assertHealth('operational', null)
})

test('a chain with a deposit that could not be settled is degraded, but not silent', async () => {
  await readChain({ read_s: 700 })
  const head = { number: 150, hash: 'bb', timestamp_ms: ROOM_NOW.getTime() }
  const finalized = { number: 131, hash: 'aa', timestamp_ms: 0 }
  await recordUnsettled(db, { chain: 'tron', head, finalized, now: ROOM_NOW })
  await assertHealth('degraded', /^tron: not all deposits could be settled\.$/)
  assert.equal((await probes.network()).block_height, 150)
  await readChain({ final: 131 })
  await assertHealth('operational', null)
})

test('more than 300 unaudited blocks degrade the chain', async () => {
  await readChain({ final: 100 })
  await readChain({ final: 400 })
  await assertHealth('operational', null)
  await readChain({ final: 401 })
  await assertHealth('degraded', /301 final blocks unaudited/)
  await advanceAudit(db, 'tron', 101)
  await assertHealth('operational', null)
})

test('the network shows height and lag of the head; a lagging node cannot move them back', async () => {
  await readChain({ final: 200, head_s: 7 })
  await readChain({ final: 150, head_s: 50 })
  const { chain, block_height, lag_seconds } = await probes.network()
  assert.deepEqual([chain, block_height, lag_seconds], ['tron', 219, 7])
})

test('an unreachable database is an outage of the rails', async () => {
  const down = { ...db, rows: () => Promise.reject(new Error('down')) }
  const { rails } = chainProbes({ ...dependencies, db: down })
  const { status, latency_ms } = await rails()
  assert.deepEqual([status, latency_ms], ['outage', null])
})
