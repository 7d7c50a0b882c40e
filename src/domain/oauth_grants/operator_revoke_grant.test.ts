import assert from 'node:assert/strict'
import { test } from 'node:test'
import { insertBareGrant } from '#test/support/grants.ts'
import { openMoneyRoom } from '#test/support/money_room.ts'
import { operatorRevokeGrant } from './operator_revoke_grant.ts'

const room = await openMoneyRoom()
const revoke = (id: string) => room.operate((context) => operatorRevokeGrant(context, { id }))

test('a grant ends for every node, with an entry in the audit log of its owner', async () => {
  const account_id = await room.openAccount()
  const id = await insertBareGrant(room, { account_id })
  const { value, entries, changed_accounts } = await revoke(id)
  assert.deepEqual([value.status, value.revoked_at], ['revoked', room.clock.now().toISOString()])
  assert.deepEqual(entries, [{ action: 'oauth.revoked', resource: { type: 'grant', id } }])
  assert.deepEqual(changed_accounts, [account_id])
})

test('a grant that has ended stays as it was: no second entry, no new time', async () => {
  const id = await insertBareGrant(room, { account_id: await room.openAccount() })
  const { revoked_at } = (await revoke(id)).value
  room.clock.pass(1_000)
  const again = await revoke(id)
  assert.deepEqual([again.value.revoked_at, again.entries], [revoked_at, []])
  assert.deepEqual(again.changed_accounts, [])
})

test('refuses an unknown ID', async () => {
  await assert.rejects(revoke('grant_unknown'), { code: 'not_found' })
})
