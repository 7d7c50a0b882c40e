import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { setTimeout as wait } from 'node:timers/promises'
import { plainEvent, recordTestEvents } from '#test/support/events.ts'
import { eventually } from '#test/support/eventually.ts'
import { send } from '#test/support/http.ts'
import { openAccount } from '#test/support/people.ts'
import { replicatedPostgres } from '#test/support/replicated_postgres.ts'
import { startTestService } from '#test/support/start.ts'
import { followActivity } from '#test/support/stream.ts'

const postgres = await replicatedPostgres()
const { primary, standby, urlOf } = postgres
// The standby comes first: that is how a list looks after an earlier failover.
const database_url = urlOf(standby, primary)
const { url, runtime } = await startTestService({ database_url })
const { bearer, account_id } = await openAccount(url)
const stream = await followActivity(url, bearer)
after(stream.close)

test('a stream sends events although a standby is listed first', async () => {
  await recordTestEvents(runtime, account_id, [plainEvent('card.loaded')])
  assert.equal((await stream.waitForEvents(1, 5_000)).length, 1)
})

test('a stream continues after the primary died and the standby was promoted', async () => {
  await postgres.waitForStandby()
  await primary.kill()
  await wait(2_000)
  await postgres.promote()
  const isBack = async () => (await send(url, 'GET', '/v1/balance', { bearer })).status === 200
  assert.ok(await eventually(isBack, { within_ms: 15_000 }), 'the API did not come back')
  await recordTestEvents(runtime, account_id, [plainEvent('card.frozen')])
  const told = await stream.waitForEvents(2, 10_000)
  assert.deepEqual(
    told.map(({ event }) => event),
    ['card.loaded', 'card.frozen'],
  )
  // The next one comes by its notification, not by the look after the reconnection.
  await recordTestEvents(runtime, account_id, [plainEvent('card.unfrozen')])
  assert.equal((await stream.waitForEvents(3, 2_000)).length, 3)
})
