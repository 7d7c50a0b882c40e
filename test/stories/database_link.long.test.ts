import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
import { openDatabase } from '#platform/postgres/db.ts'
import { startAcknowledgedLoad } from '#test/support/acknowledged_load.ts'
import { cloneDatabase } from '#test/support/database.ts'
import { databaseProxy } from '#test/support/database_proxy.ts'
import { startTestService } from '#test/support/start.ts'

const seed = Number(process.env['FLORIN_SEED'] ?? Date.now() % 1_000_000)
const CUTS = 5
/** Longer than every timeout of a statement. */
const STALL_MS = 30_000

/** Traffic between two faults. */
const TRAFFIC_MS = 1_000

const database = await cloneDatabase()
const proxy = await databaseProxy(database.url)
const direct = openDatabase(database.url, { pool_size: 2 })
const node = await startTestService({ database_url: proxy.url })
after(async () => {
  await direct.close()
  await proxy.close()
  await database.drop()
})

test(`${CUTS} cuts and a stall of 30 s between service and database run nothing twice, seed ${seed}`, async (t) => {
  const load = await startAcknowledgedLoad(node, seed)
  const gaps: number[] = []
  try {
    for (let cut = 0; cut < CUTS; cut += 1) {
      await load.nextSuccess()
      await delay(TRAFFIC_MS)
      await proxy.cut()
      await delay(300)
      await proxy.heal()
      gaps.push(await load.nextSuccess())
    }
    proxy.stall()
    await delay(STALL_MS)
    await proxy.heal()
    gaps.push(await load.nextSuccess())
  } finally {
    // Clients that go on would keep the service from stopping.
    await load.stop()
  }
  assert(load.unavailable() > 0, 'the faults were seen')
  t.diagnostic(`${await load.assertKept(direct)}; healed after at most ${Math.max(...gaps)} ms`)
})
