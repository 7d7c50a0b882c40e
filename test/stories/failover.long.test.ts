import assert from 'node:assert/strict'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
import { startAcknowledgedLoad } from '#test/support/acknowledged_load.ts'
import { send } from '#test/support/http.ts'
import { PostgresPair, type PostgresServer } from '#test/support/postgres_pair.ts'
import { startTestService } from '#test/support/start.ts'

const seed = Number(process.env['FLORIN_SEED'] ?? Date.now() % 1_000_000)
const CYCLES = Number(process.env['FLORIN_CYCLES'] ?? 4)

/** Traffic between two faults. */
const TRAFFIC_MS = 1_000

const folder = await mkdtemp(join(tmpdir(), 'florin_failover_'))
const pair = await PostgresPair.start(folder)
after(async () => {
  await pair.stop()
  await rm(folder, { recursive: true, force: true, maxRetries: 5 })
})
const [first, second] = pair.servers
const node = await startTestService({ database_url: pair.urlOf(first.port, second.port) })

const summary = (gaps: readonly number[]) => {
  const sorted = [...gaps].sort((one, two) => one - two)
  return `gap p50 ${sorted[Math.floor(sorted.length / 2)]} ms, max ${sorted.at(-1)} ms`
}

test(`${CYCLES} kills and immediate stops of the database under load lose nothing, seed ${seed}`, async (t) => {
  const load = await startAcknowledgedLoad(node, seed)
  const gaps: number[] = []
  for (let cycle = 0; cycle < CYCLES; cycle += 1) {
    await load.nextSuccess()
    await delay(TRAFFIC_MS)
    await pair.kill(pair.primary, cycle % 2 === 0 ? 'SIGKILL' : 'SIGQUIT')
    const refused = await send(node.url, 'GET', '/operator/v1/health', {
      bearer: 'operator_token_of_the_tests',
    })
    assert([200, 503].includes(refused.status), 'the process still responds')
    await pair.restart(pair.primary)
    gaps.push(await load.nextSuccess())
  }
  await load.stop()
  assert(load.unavailable() > 0, 'the outage was seen')
  t.diagnostic(`${CYCLES} cycles, ${await load.assertKept(node.owner_db)}, ${summary(gaps)}`)
})

const countOn = async (server: PostgresServer) =>
  (await pair.queryOn(server, 'select count(*)::text as n from movements'))[0]?.['n']

/** The old primary is back, accepts writes, and is the only one that answers for a while. */
async function assertOldPrimaryIsRefused(old: PostgresServer): Promise<void> {
  await pair.restart(old)
  await pair.queryOn(old, `alter system set synchronous_standby_names = ''`)
  await pair.queryOn(old, 'select pg_reload_conf()')
  const before = await countOn(old)
  await pair.kill(pair.primary)
  await delay(2_000)
  await pair.restart(pair.primary)
  assert.equal(await countOn(old), before, 'nothing was written to the old timeline')
}

test(`${CYCLES} failovers under load lose nothing, and a returned old primary is refused, seed ${seed}`, async (t) => {
  const load = await startAcknowledgedLoad(node, seed + 1)
  const gaps: number[] = []
  for (let cycle = 0; cycle < CYCLES; cycle += 1) {
    await load.nextSuccess()
    await delay(TRAFFIC_MS)
    const old = pair.primary
    await pair.kill(old)
    await pair.promote()
    gaps.push(await load.nextSuccess())
    await assertOldPrimaryIsRefused(old)
    await load.nextSuccess()
    await pair.rebuildStandby()
  }
  await load.stop()
  t.diagnostic(`${CYCLES} cycles, ${await load.assertKept(node.owner_db)}, ${summary(gaps)}`)
})
