import assert from 'node:assert/strict'
import { test } from 'node:test'
import { systemAuditContext } from '#domain/audit/audit_context.ts'
import { makeCredentials } from '#domain/credentials/credentials.ts'
import { findGrant, saveGrantResources } from '#domain/credentials/grant_store.ts'
import { insertBareGrant } from '#test/support/grants.ts'
import { openMoneyRoom } from '#test/support/money_room.ts'
import { removeScope } from './remove_scope.ts'

const room = await openMoneyRoom()
const { db, dependencies, clock } = room
const credentials = makeCredentials(dependencies)
const audit_context = systemAuditContext(dependencies)

const REST = 'https://florin.example/v1'
const MCP = 'https://florin.example/mcp'

async function openGrant(resources: Record<string, string>) {
  const account_id = await room.openAccount()
  const id = await insertBareGrant(room, { account_id })
  await saveGrantResources(db, { account_id, id }, { resources, now: clock.now() })
  const remove = (scope: string, of = account_id) =>
    removeScope({ ...dependencies, credentials }, id, { account_id: of, scope, audit_context })
  const read = async () => {
    const grant = await findGrant(db, id)
    return { resources: grant?.payload.resources, has_ended: grant?.revoked_at !== null }
  }
  const actions = async () => {
    const sql = 'select action from audit_entries where account_id = $1 order by id'
    return (await db.rows<{ action: string }>(sql, [account_id])).map(({ action }) => action)
  }
  return { id, remove, read, actions }
}

test('a scope is taken from every resource of the grant, and the others stay', async () => {
  const grant = await openGrant({ [REST]: 'card:read card:control', [MCP]: 'card:control' })
  assert.equal(await grant.remove('card:control'), true)
  const resources = { [REST]: 'card:read', [MCP]: '' }
  assert.deepEqual(await grant.read(), { resources, has_ended: false })
  assert.deepEqual(await grant.actions(), ['oauth.scope_removed'])
})

test('a grant ends with its last scope', async () => {
  const grant = await openGrant({ [REST]: 'card:read' })
  assert.equal(await grant.remove('card:read'), true)
  assert.equal((await grant.read()).has_ended, true)
  assert.deepEqual(await grant.actions(), ['oauth.revoked'])
  assert.equal(await grant.remove('card:read'), false, 'a grant that has ended has no scopes')
})

test('a scope that the grant lacks, or the grant of another account, changes nothing', async () => {
  const grant = await openGrant({ [REST]: 'card:read' })
  const before = await grant.read()
  assert.equal(await grant.remove('card:control'), false)
  assert.equal(await grant.remove('card:read', await room.openAccount()), false)
  assert.deepEqual([await grant.read(), await grant.actions()], [before, []])
})

test('of two removals of the last two scopes, one ends the grant', async () => {
  const grant = await openGrant({ [REST]: 'card:read card:control' })
  const removed = await Promise.all([grant.remove('card:read'), grant.remove('card:control')])
  assert.deepEqual(removed, [true, true])
  assert.equal((await grant.read()).has_ended, true)
  assert.deepEqual((await grant.actions()).toSorted(), ['oauth.revoked', 'oauth.scope_removed'])
})
