import assert from 'node:assert/strict'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { setTimeout as wait } from 'node:timers/promises'
import { plainEvent, recordTestEvents } from '#test/support/events.ts'
import { eventually } from '#test/support/eventually.ts'
import { send } from '#test/support/http.ts'
import { openAccount } from '#test/support/people.ts'
import { PostgresPair } from '#test/support/postgres_pair.ts'
import { startTestService } from '#test/support/start.ts'
import { followActivity } from '#test/support/stream.ts'

const folder = await mkdtemp(join(tmpdir(), 'florin_failover_stream_'))
const pair = await PostgresPair.start(folder)
after(async () => {
  await pair.stop()
  await rm(folder, { recursive: true, force: true, maxRetries: 5 })
})
// The standby comes first: that is how a list looks after an earlier failover.
const database_url = pair.urlOf(pair.standby.port, pair.primary.port)
const { url, runtime } = await startTestService({ database_url })
const { bearer, account_id } = await openAccount(url)
const stream = await followActivity(url, bearer)
after(stream.close)

test('a stream sends events although a standby is listed first', async () => {
  await recordTestEvents(runtime, account_id, [plainEvent('card.loaded')])
  assert.equal((await stream.waitForEvents(1, 5_000)).length, 1)
})

test('a stream continues after the primary died and the standby was promoted', async () => {
  await pair.kill(pair.primary)
  await wait(2_000)
  await pair.promote()
  const isBack = async () => (await send(url, 'GET', '/v1/balance', { bearer })).status === 200
  assert.ok(await eventually(isBack, { within_ms: 15_000 }), 'the API did not come back')
  await recordTestEvents(runtime, account_id, [plainEvent('card.frozen')])
  const received = await stream.waitForEvents(2, 10_000)
  assert.deepEqual(
    received.map(({ event }) => event),
    ['card.loaded', 'card.frozen'],
  )
  // The next one arrives by its notification, not by the query after the reconnection.
  await recordTestEvents(runtime, account_id, [plainEvent('card.unfrozen')])
  assert.equal((await stream.waitForEvents(3, 2_000)).length, 3)
})
