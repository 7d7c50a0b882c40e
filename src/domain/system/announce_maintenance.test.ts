import assert from 'node:assert/strict'
import { test } from 'node:test'
import { advance } from '#test/support/calls.ts'
import { eventually } from '#test/support/eventually.ts'
import { send } from '#test/support/http.ts'
import { openAccount } from '#test/support/people.ts'
import { startReceiver } from '#test/support/receiver.ts'
import { startTestService } from '#test/support/start.ts'
import { subscribe } from '#test/support/webhooks.ts'
import { announceMaintenance } from './announce_maintenance.ts'

const { url, runtime } = await startTestService()
const { db, clock } = runtime

test('every account gets one event, and health shows the maintenance until it ends', async () => {
  const people = []
  for (let at = 0; at < 23; at += 1) people.push(await openAccount(url))
  const [person] = people
  assert(person !== undefined)
  const receiver = await startReceiver()
  await subscribe(url, person, { url: receiver.url })
  const now = clock.now()
  const ahead = (seconds: number) => new Date(now.getTime() + seconds * 1_000)
  const announced = {
    starts_at: ahead(3_600),
    ends_at: ahead(7_200),
    message: 'Database upgrade; cards keep working.',
    components: ['rails'],
  }
  await announceMaintenance(db, announced, now)

  const shown = { ...announced, starts_at: ahead(3_600).toISOString() }
  const object = { ...shown, ends_at: ahead(7_200).toISOString() }
  const [received] = await receiver.waitFor(1)
  assert.equal(received?.event.type, 'system.maintenance')
  assert.deepEqual(received?.event.data.object, object)
  const countEvents = () =>
    db.rows<{ count: bigint }>(
      `select count(*) as count from events where type = 'system.maintenance' group by account_id`,
    )
  const isEveryoneNotified = async () => (await countEvents()).length === people.length
  assert(await eventually(isEveryoneNotified, { within_ms: 20_000 }))
  assert((await countEvents()).every(({ count }) => count === 1n))
  const isMailed = async () => {
    const { text } = await send(url, 'GET', '/sandbox/v1/inbox', { bearer: person.bearer })
    return /Scheduled maintenance (on|from) \w{3} \d+, \d{4}, [^"]* UTC"/.test(text)
  }
  assert(await eventually(isMailed, { within_ms: 20_000 }))

  const health = async () => {
    const { body } = await send(url, 'GET', '/v1/system/health', { bearer: person.bearer })
    return body as Record<string, unknown>
  }
  const planned = await health()
  assert.deepEqual(planned['maintenance'], [object])
  assert.notEqual(planned['status'], 'maintenance')
  await advance(url, person.bearer, 3_700)
  assert.equal((await health())['status'], 'maintenance')
  await advance(url, person.bearer, 3_600)
  assert.deepEqual((await health())['maintenance'], [])
})
