// Runs alone, because three database servers and their manager must not miss their deadlines.
import assert from 'node:assert/strict'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
import { startAcknowledgedLoad } from '#test/support/acknowledged_load.ts'
import { startChildNode } from '#test/support/child_node.ts'
import { plainEvent, recordTestEvents } from '#test/support/events.ts'
import { eventually } from '#test/support/eventually.ts'
import { assertOnTime } from '#test/support/on_time.ts'
import { PatroniCluster, type PatroniServer } from '#test/support/patroni_cluster.ts'
import { openAccount } from '#test/support/people.ts'
import { startTestService } from '#test/support/start.ts'
import { followActivity } from '#test/support/stream.ts'
import { skipWithout } from '#test/support/tools.ts'
import { awaitedTopup, onChain, topupOf } from '#test/support/topups.ts'

const seed = Number(process.env['FLORIN_SEED'] ?? Date.now() % 1_000_000)
/** From the promotion to the first success; statements that hang on the old primary take 12 s. */
const GAP_MS_MAX = 3_000
const skip = skipWithout('patroni') || skipWithout('etcd') || skipWithout('pg_basebackup')

async function startUnderLoad() {
  const folder = await mkdtemp(join(tmpdir(), 'florin_patroni_'))
  const cluster = await PatroniCluster.start(folder)
  const data_dir = await mkdtemp(join(tmpdir(), 'florin_patroni_node_'))
  const database_url = cluster.url
  const first = await startTestService({ database_url, data_dir })
  // Hooks run in this order, and the service writes to both until it is stopped.
  after(async () => {
    await cluster.stop()
    for (const path of [folder, data_dir]) {
      await rm(path, { recursive: true, force: true, maxRetries: 5 })
    }
  })
  const second = await startChildNode({ database_url, data_dir })
  const { url, sandbox_host } = first
  const nodes = [{ url, card_host_port: sandbox_host.card_host_port }, second]
  const person = await openAccount(url)
  const streams = await Promise.all(nodes.map((node) => followActivity(node.url, person.bearer)))
  after(() => {
    for (const stream of streams) stream.close()
  })
  const load = await startAcknowledgedLoad(first, seed, {
    targets: () => nodes,
    failing: 'database',
  })
  return { cluster, first, person, streams, load }
}

type UnderLoad = Awaited<ReturnType<typeof startUnderLoad>>
const { cluster, first, person, streams, load } =
  skip === false ? await startUnderLoad() : ({} as UnderLoad)

/** Both streams, on different nodes, get an event; the second one only by its notification. */
async function assertStreamsAlive(): Promise<void> {
  for (let round = 0; round < 2; round += 1) {
    const counts = streams.map((stream) => stream.events().length)
    await recordTestEvents(first.runtime, person.account_id, [plainEvent('card.loaded')])
    for (const [at, stream] of streams.entries()) {
      const wanted = (counts[at] ?? 0) + 1
      const events = await stream.waitForEvents(wanted, 20_000)
      assert.equal(events.length, wanted, `stream ${at} missed an event`)
    }
  }
}

/** The watcher of the chain works only under its lease. */
async function assertLeasesAlive(): Promise<void> {
  const { url } = first
  const { bearer } = person
  const { id } = await awaitedTopup(url, bearer)
  await onChain({ url, bearer, id }, 'deposit', { amount_usd: 25 })
  first.sandbox.node.mine(60)
  const isCredited = async () => (await topupOf(url, bearer, id)).status === 'completed'
  assert(await eventually(isCredited, { within_ms: 20_000 }), 'no deposit was credited')
}

type Outage = { promoted_ms: number; replicated_ms: number; gap_ms: number }

/**
 * Breaks something, waits for the new primary, for a standby of it, without which it commits
 * nothing, and for the first load and approval.
 */
async function failOver(old: PatroniServer, breakIt: () => Promise<void>): Promise<Outage> {
  await load.nextSuccess()
  await delay(500)
  const began = performance.now()
  await breakIt()
  const elapsed = () => Math.round(performance.now() - began)
  const primary = await cluster.waitForPrimary(old)
  const promoted_ms = elapsed()
  await cluster.waitForReplication(primary)
  const replicated_ms = elapsed()
  await load.nextSuccess()
  const gap_ms = elapsed()
  assertShortGap(gap_ms - promoted_ms)
  return { promoted_ms, replicated_ms, gap_ms }
}

const assertShortGap = (gap_ms: number) =>
  assertOnTime(gap_ms <= GAP_MS_MAX, `the first success came ${gap_ms} ms later`)

const figures = ({ promoted_ms, replicated_ms, gap_ms }: Outage) =>
  `promoted after ${promoted_ms} ms, standby after ${replicated_ms} ms, ` +
  `first success ${gap_ms - replicated_ms} ms later`

test('a switchover under load keeps streams and leases', { skip }, async (t) => {
  await cluster.waitForStandbys(2)
  const old = await cluster.waitForPrimary()
  const candidate = await cluster.synchronousStandby(old)
  assert(candidate !== undefined)
  const outage = await failOver(old, () => cluster.switchover(old, candidate))
  await assertStreamsAlive()
  await assertLeasesAlive()
  t.diagnostic(figures(outage))
})

test('kill -9 of the primary under load: a standby takes over, and the old primary follows it', {
  skip,
}, async (t) => {
  await cluster.waitForStandbys(2)
  const old = await cluster.waitForPrimary()
  try {
    t.diagnostic(figures(await failOver(old, () => cluster.killServer(old))))
  } finally {
    await cluster.startServer(old)
  }
  await assertStreamsAlive()
  await assertLeasesAlive()
  await cluster.waitForStandbys(2)
  await load.nextSuccess()
})

test('a standby that stops receiving is replaced, and nothing is acknowledged without one', {
  skip,
}, async (t) => {
  await cluster.waitForStandbys(2)
  const primary = await cluster.waitForPrimary()
  const slow = await cluster.synchronousStandby(primary)
  assert(slow !== undefined)
  const receiver = await cluster.receiverOf(slow)
  const began = performance.now()
  await cluster.signalReceiver(receiver, 'SIGSTOP')
  try {
    const isReplaced = async () => {
      const now = await cluster.synchronousStandby(primary)
      return now !== undefined && now !== slow
    }
    assert(await eventually(isReplaced, { within_ms: 40_000 }), 'commits still wait for it')
    const replaced_ms = Math.round(performance.now() - began)
    await load.nextSuccess()
    const gap_ms = Math.round(performance.now() - began)
    assertShortGap(gap_ms - replaced_ms)
    t.diagnostic(`replaced after ${replaced_ms} ms, first success ${gap_ms - replaced_ms} ms later`)
  } finally {
    await cluster.signalReceiver(receiver, 'SIGCONT')
  }
})

test('a lagging standby is not promoted, and one that applies late loses nothing', {
  skip,
}, async (t) => {
  await cluster.waitForStandbys(2)
  const old = await cluster.waitForPrimary()
  const late = await cluster.synchronousStandby(old)
  const lagging = cluster.servers.find((server) => server !== old && server !== late)
  assert(late !== undefined && lagging !== undefined)
  const receiver = await cluster.receiverOf(lagging)
  await cluster.signalReceiver(receiver, 'SIGSTOP')
  await cluster.queryOn(late, 'select pg_wal_replay_pause()')
  await delay(3_000)
  try {
    const outage = await failOver(old, async () => {
      await cluster.killServer(old)
      await cluster.signalReceiver(receiver, 'SIGCONT')
    })
    t.diagnostic(figures(outage))
    assert.equal(await cluster.waitForPrimary(), late)
  } finally {
    await cluster.startServer(old)
  }
  await cluster.waitForStandbys(2)
  await load.nextSuccess()
})

test('a primary whose network goes silent is left without a FIN, and refused when it returns', {
  skip,
}, async (t) => {
  await cluster.waitForStandbys(2)
  const old = await cluster.waitForPrimary()
  try {
    t.diagnostic(figures(await failOver(old, async () => cluster.silence(old))))
  } finally {
    await cluster.endSilence(old)
  }
  await assertStreamsAlive()
  await assertLeasesAlive()
  await cluster.waitForStandbys(2)
  assert.notEqual(await cluster.waitForPrimary(), old)
  await load.nextSuccess()
})

test('the slot of a cell that is being moved is kept, and operators find the cluster', {
  skip,
}, async () => {
  await cluster.waitForStandbys(2)
  const primary = await cluster.waitForPrimary()
  const slot = `'florin_move_of_the_test'`
  await cluster.queryOn(primary, `select pg_create_logical_replication_slot(${slot}, 'pgoutput')`)
  // Patroni looks for slots that it does not know every loop_wait (3 s).
  await delay(8_000)
  const kept = await cluster.queryOn(
    primary,
    `select from pg_replication_slots where slot_name = ${slot}`,
  )
  assert.equal(kept.length, 1)
  await cluster.queryOn(primary, `select pg_drop_replication_slot(${slot})`)
  assert.match(await cluster.patronictl(primary, 'list'), /db1[\s\S]*db2[\s\S]*db3/)
})

test('settings of a running cluster are changed with patronictl, as for WAL archiving', {
  skip,
}, async () => {
  const primary = await cluster.waitForPrimary()
  const archiving = [
    'archive_mode=on',
    'archive_timeout=60',
    'archive_command=pgbackrest --stanza=florin_cell_0 archive-push %p',
  ]
  const words = archiving.flatMap((setting) => ['-p', setting])
  await cluster.patronictl(primary, 'edit-config', 'florin', '--force', ...words)
  const isChanged = async () => {
    const [row] = await cluster.queryOn(
      primary,
      `select setting from pg_file_settings where name = 'archive_command'`,
    )
    const shown = await cluster.patronictl(primary, 'list')
    return String(row?.['setting']).includes('florin_cell_0') && /Pending restart/.test(shown)
  }
  assert(await eventually(isChanged, { within_ms: 30_000 }))
})

test(`after all of it nothing acknowledged is lost or doubled, seed ${seed}`, {
  skip,
}, async (t) => {
  await load.stop()
  assert(load.unavailable() > 0, 'the outages were seen')
  t.diagnostic(await load.assertKept(first.owner_db))
})
