import assert from 'node:assert/strict'
import { test } from 'node:test'
import { verifyWebhook } from '#client/verify_webhook.ts'
import { type EventType, event_types } from '#contract/events.ts'
import { announceMaintenance } from '#domain/system/announce_maintenance.ts'
import { eventually } from '#test/support/eventually.ts'
import { openAccount, type Person } from '#test/support/people.ts'
import { startReceiver } from '#test/support/receiver.ts'
import { startTestService, type TestService } from '#test/support/start.ts'
import { makeEvent, subscribe } from '#test/support/webhooks.ts'

/** What makes each event happen, through the doors. A room that emits adds its own here. */
const provocations: Partial<
  Record<EventType, (service: TestService, person: Person) => Promise<void>>
> = {
  'account.signed_in': ({ url }, person) => makeEvent(url, person),
  'system.maintenance': async ({ programme }) => {
    const now = programme.clock.now()
    const ahead = (ms: number) => new Date(now.getTime() + ms)
    const window = { starts_at: ahead(3_600_000), ends_at: ahead(7_200_000) }
    const planned = { ...window, message: 'Upgrade.', components: ['rails'] }
    await announceMaintenance(programme.db, planned, now)
  },
}

/** Nobody can subscribe before the account exists: it is read where all events stand. */
const BEFORE_ANY_SUBSCRIPTION: EventType = 'account.created'

test('what happens is received, signed, once and in sequence', async (t) => {
  const service = await startTestService()
  const { url, programme } = service
  const person = await openAccount(url)
  const receiver = await startReceiver()
  const { secret } = await subscribe(url, person, { url: receiver.url })

  const types = Object.keys(provocations) as EventType[]
  for (const type of types) await provocations[type]?.(service, person)
  const isAll = async () => types.every((type) => receiver.types().includes(type))
  assert(await eventually(isAll, { within_ms: 10_000 }), `received: ${receiver.types().join(', ')}`)

  for (const { body, headers } of receiver.heard) await verifyWebhook(body, headers, secret)
  const rows = await programme.db.rows<{ type: string; sequence: bigint; body: string }>(
    `select type, sequence, body from events
      where account_id = $1 and sequence is not null order by sequence`,
    [person.account_id],
  )
  assert.equal(rows[0]?.type, BEFORE_ANY_SUBSCRIPTION)
  assert.deepEqual(
    rows.map(({ sequence }) => Number(sequence)),
    rows.map((_, at) => at + 1),
  )
  assert.deepEqual(
    receiver.heard.map(({ body }) => body).toSorted(),
    rows
      .slice(1)
      .map(({ body }) => body)
      .toSorted(),
  )
  for (const { body } of rows) assert(Buffer.byteLength(body) <= 20_480)
  const provoked = new Set<string>([BEFORE_ANY_SUBSCRIPTION, ...types])
  const missing = Object.keys(event_types).filter((type) => !provoked.has(type))
  t.diagnostic(`${provoked.size} of 18 provoked; still without one: ${missing.join(', ')}`)
})
