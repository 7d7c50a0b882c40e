import assert from 'node:assert/strict'
import { test } from 'node:test'
import { openMoneyRoom } from '#test/support/money_room.ts'
import { operatorListFailingWebhooks } from './operator_list_failing_webhooks.ts'
import { insertWebhook } from './webhook_store.ts'

const room = await openMoneyRoom()
const { db, dependencies } = room
const account_id = await room.openAccount()

async function openWebhook(url: string): Promise<string> {
  room.clock.pass(1_000)
  const now = room.clock.now()
  const id = dependencies.newId('wh', now)
  const secret = { secret_sealed: 'sealed', secret_hint: 'whsec_…1234' }
  const fields = { url, events: ['card.loaded' as const], description: null, grant_id: null }
  await insertWebhook(db, { account_id, id, ...fields, ...secret, now })
  return id
}

const list = async (input: Parameters<typeof operatorListFailingWebhooks>[1] = {}) =>
  (await room.operate((context) => operatorListFailingWebhooks(context, input))).value

test('lists failing and disabled webhooks with their customer, and no healthy one', async () => {
  await openWebhook('https://shop.example/healthy')
  const failing = await openWebhook('https://shop.example/failing')
  const disabled = await openWebhook('https://shop.example/disabled')
  await db.run('update webhooks set failing_since = $2 where id = $1', [failing, room.clock.now()])
  await db.run(`update webhooks set status = 'disabled', disabled_reason = 'gone' where id = $1`, [
    disabled,
  ])
  const { data } = await list()
  assert.deepEqual(
    data.map(({ id, account_email }) => [id, account_email]),
    [disabled, failing].map((id) => [id, `${account_id}@example.com`]),
  )
  assert.equal(data[1]?.failing_since, room.clock.now().toISOString())
  assert(!JSON.stringify(data).includes('sealed'), 'no secret is shown')
})

test('lists them page by page', async () => {
  const page = await list({ limit: 1 })
  assert.equal(page.has_more, true)
  assert.equal((await list({ limit: 1, cursor: page.next_cursor ?? '' })).data.length, 1)
})
