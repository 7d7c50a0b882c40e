import assert from 'node:assert/strict'
import { test } from 'node:test'
import { PANEL_CLIENT_ID } from '#domain/credentials/grant_store.ts'
import { insertBareGrant } from '#test/support/grants.ts'
import { openMoneyRoom } from '#test/support/money_room.ts'
import { operatorListGrants } from './operator_list_grants.ts'
import { operatorRevokeGrant } from './operator_revoke_grant.ts'

const room = await openMoneyRoom()
const list = async (input: Parameters<typeof operatorListGrants>[1] = {}) =>
  (await room.operate((context) => operatorListGrants(context, input))).value.data
const account_id = await room.openAccount()
const other = await room.openAccount()
const first = await insertBareGrant(room, { account_id })
const second = await insertBareGrant(room, { account_id: other })

test('lists grants of all accounts with client, scopes and the email of the owner', async () => {
  const [newest, oldest] = await list()
  assert.deepEqual([newest?.id, oldest?.id], [second, first])
  assert.deepEqual(
    [oldest?.account_email, oldest?.client_name, oldest?.scopes, oldest?.status],
    [`${account_id}@example.com`, 'Shopping agent', ['cards:read'], 'active'],
  )
})

test("the grants of the panel's own client are not listed", async () => {
  await insertBareGrant(room, { account_id, client_id: PANEL_CLIENT_ID })
  assert.equal((await list()).length, 2)
})

test('lists active and revoked grants apart, and those of one account', async () => {
  await room.operate((context) => operatorRevokeGrant(context, { id: first }))
  const idsOf = async (input: Parameters<typeof list>[0]) => (await list(input)).map(({ id }) => id)
  assert.deepEqual(await idsOf({ status: 'revoked' }), [first])
  assert.deepEqual(await idsOf({ status: 'active' }), [second])
  assert.deepEqual(await idsOf({ account_id: other }), [second])
})
