import assert from 'node:assert/strict'
import { test } from 'node:test'
import { upsertPayload } from '#domain/credentials/oauth_payload_store.ts'
import { insertWebhook } from '#domain/webhooks/webhook_store.ts'
import { insertBareGrant } from '#test/support/grants.ts'
import { openMoneyRoom } from '#test/support/money_room.ts'
import { endGrant } from './end_grant.ts'

const room = await openMoneyRoom()
const { db, dependencies, clock } = room

const end = (id: string) => db.transaction((tx) => endGrant(tx, id, clock.now()))

async function openWebhook(account_id: string, grant_id: string | null): Promise<string> {
  const now = clock.now()
  const { id } = await insertWebhook(db, {
    account_id,
    id: dependencies.newId('wh', now),
    url: 'https://agent.example/hook',
    events: ['card.loaded'],
    description: null,
    secret_sealed: 'sealed',
    secret_hint: 'hint',
    now,
    grant_id,
  })
  return id
}

async function openToken(grant_id: string, model: string): Promise<void> {
  await upsertPayload(db, {
    model,
    id: `${model} of ${grant_id}`,
    payload: {},
    grant_id,
    uid: null,
    client_id: 'client_1',
    account_id: null,
    signed_in_at: null,
    now: clock.now(),
    expires_at: new Date(clock.now().getTime() + 60_000),
  })
}

const modelsOf = async (grant_id: string) => {
  const sql = 'select model from oauth_payloads where grant_id = $1 order by model'
  return (await db.rows<{ model: string }>(sql, [grant_id])).map(({ model }) => model)
}

test('a grant ends once, with its refresh tokens and codes', async () => {
  const id = await insertBareGrant(room, { account_id: await room.openAccount() })
  const models = ['AccessToken', 'AuthorizationCode', 'RefreshToken']
  for (const model of models) await openToken(id, model)
  assert.deepEqual(await end(id), [{ action: 'oauth.revoked', resource: { type: 'grant', id } }])
  // The access token stays, so that it is answered with token_revoked.
  assert.deepEqual(await modelsOf(id), ['AccessToken'])
  assert.deepEqual(await end(id), [])
})

test('its webhooks are disabled, and those of the owner and of other grants are not', async () => {
  const account_id = await room.openAccount()
  const id = await insertBareGrant(room, { account_id })
  const other = await insertBareGrant(room, { account_id, client_id: 'client_2' })
  const own = await openWebhook(account_id, id)
  await openWebhook(account_id, other)
  await openWebhook(account_id, null)
  const entries = await end(id)
  const disabled = { action: 'webhook.disabled', resource: { type: 'webhook', id: own } }
  assert.deepEqual(entries.slice(1), [disabled])
  const rows = await db.rows<{ id: string }>(
    `select id from webhooks where account_id = $1 and status <> 'enabled'`,
    [account_id],
  )
  assert.deepEqual(rows, [{ id: own }])
})

test('an unknown grant changes nothing', async () => {
  assert.deepEqual(await end('grant_unknown'), [])
})
