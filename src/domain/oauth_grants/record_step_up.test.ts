import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Scope } from '#contract/scopes.ts'
import { systemAuditContext } from '#domain/audit/audit_context.ts'
import type { SecurityAlert } from '#domain/context/context.ts'
import { makeCredentials } from '#domain/credentials/credentials.ts'
import { findGrant, markRevoked, saveGrantResources } from '#domain/credentials/grant_store.ts'
import { upsertPayload } from '#domain/credentials/oauth_payload_store.ts'
import { resourceUrl } from '#domain/credentials/resource.ts'
import { insertBareGrant } from '#test/support/grants.ts'
import { openMoneyRoom } from '#test/support/money_room.ts'
import { recordStepUp } from './record_step_up.ts'
import { findStepUp, STEP_UP_MS, sealStepUp } from './step_up_request.ts'

const room = await openMoneyRoom()
const { db, dependencies, clock } = room
const { keys, settings } = dependencies
const credentials = makeCredentials(dependencies)
const MCP = resourceUrl(settings, 'mcp')
const REST = resourceUrl(settings, 'rest')
const BOTH = resourceUrl(settings, 'both')

type Token = { model?: string; aud?: string; scope: string }

async function openGrant(tokens: Record<string, Token> = {}) {
  const account_id = await room.openAccount()
  const grant_id = await insertBareGrant(room, { account_id })
  const resources = { [MCP]: 'card:read', [REST]: 'card:read' }
  await saveGrantResources(db, { account_id, id: grant_id }, { resources, now: clock.now() })
  for (const [name, { model = 'AccessToken', aud = MCP, scope }] of Object.entries(tokens)) {
    await upsertPayload(db, {
      model,
      id: `${name} of ${grant_id}`,
      payload: { aud, scope },
      grant_id,
      uid: null,
      client_id: 'client_1',
      account_id: null,
      signed_in_at: null,
      now: clock.now(),
      expires_at: new Date(clock.now().getTime() + STEP_UP_MS),
    })
  }
  const alerts: SecurityAlert[] = []
  const context = {
    account_id,
    client: { id: 'client_1', name: 'Shopping agent', redirect_uri: 'https://agent.example/back' },
    audit_context: systemAuditContext(dependencies),
    alert: async (_tx: unknown, alert: SecurityAlert) => void alerts.push(alert),
  }
  const missing: Scope[] = ['card:issue']
  const expires_at = new Date(clock.now().getTime() + STEP_UP_MS)
  const request = { grant_id, held: ['card:read' as const], missing, expires_at }
  const widen = () =>
    recordStepUp({ ...dependencies, credentials }, context, {
      request,
      granted: missing,
      budget: undefined,
      signed_in_at: clock.now(),
    })
  const scopes = async () => {
    const rows = await db.rows<{ id: string; scope: string }>(
      `select split_part(id, ' ', 1) as id, payload ->> 'scope' as scope
         from oauth_payloads where grant_id = $1`,
      [grant_id],
    )
    return Object.fromEntries(rows.map(({ id, scope }) => [id, scope]))
  }
  return { account_id, grant_id, request, alerts, widen, scopes }
}

test('the grant gains the scope for agents only, and its owner gets an email', async () => {
  const { grant_id, widen, alerts } = await openGrant()
  assert.equal(await widen(), true)
  const grant = await findGrant(db, grant_id)
  assert.deepEqual(grant?.payload.resources, { [MCP]: 'card:read card:issue', [REST]: 'card:read' })
  assert.deepEqual(alerts, [{ kind: 'grant_created', detail: 'Shopping agent (card:issue)' }])
  await widen()
  assert.equal(alerts.length, 1, 'a repeat adds nothing')
})

test('scopes of tokens for both resources stay as they are', async () => {
  const { grant_id, account_id, widen } = await openGrant()
  const resources = { [BOTH]: 'card:control', [MCP]: 'card:read' }
  await saveGrantResources(db, { account_id, id: grant_id }, { resources, now: clock.now() })
  await widen()
  assert.deepEqual((await findGrant(db, grant_id))?.payload.resources, {
    [BOTH]: 'card:control card:issue',
    [MCP]: 'card:read card:issue',
  })
})

test('the refused token and refresh tokens gain it; other tokens stay as they are', async () => {
  const { widen, scopes } = await openGrant({
    refused: { scope: 'card:read' },
    refresh: { model: 'RefreshToken', scope: 'card:read' },
    of_rest: { aud: REST, scope: 'card:read' },
    narrowed: { scope: '' },
  })
  await widen()
  assert.deepEqual(await scopes(), {
    refused: 'card:read card:issue',
    refresh: 'card:read card:issue',
    of_rest: 'card:read',
    narrowed: '',
  })
})

test('a grant that has ended gains nothing', async () => {
  const { grant_id, widen, scopes } = await openGrant({ refused: { scope: 'card:read' } })
  await markRevoked(db, grant_id, clock.now())
  assert.equal(await widen(), false)
  assert.deepEqual(await scopes(), { refused: 'card:read' })
})

test('a link opens its request for an hour, while the grant lasts, and only unchanged', async () => {
  const { grant_id, request } = await openGrant()
  const sealed = sealStepUp(keys, request)
  const find = (text: unknown) => findStepUp({ keys, clock: dependencies.clock }, text, () => db)
  assert.deepEqual((await find(sealed))?.request, request)
  assert.equal(await find(`${sealed}x`), undefined)
  assert.equal(await find(undefined), undefined)
  clock.pass(STEP_UP_MS)
  assert.equal(await find(sealed), undefined)
  const later = { ...request, expires_at: new Date(clock.now().getTime() + STEP_UP_MS) }
  await markRevoked(db, grant_id, clock.now())
  assert.equal(await find(sealStepUp(keys, later)), undefined)
})
