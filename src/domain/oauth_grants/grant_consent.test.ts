import assert from 'node:assert/strict'
import { test } from 'node:test'
import { endBrowserSessions } from '#domain/accounts/browser_sessions.ts'
import { systemAuditContext } from '#domain/audit/audit_context.ts'
import { findBudgets } from '#domain/budgets/budget_store.ts'
import type { SecurityAlert } from '#domain/context/context.ts'
import { makeCredentials } from '#domain/credentials/credentials.ts'
import { findGrant } from '#domain/credentials/grant_store.ts'
import { openMoneyRoom } from '#test/support/money_room.ts'
import { type ConsentDecision, recordConsent, recordRefusal } from './grant_consent.ts'

const room = await openMoneyRoom()
const { db, dependencies, clock } = room
const credentials = makeCredentials(dependencies)

const BOTH = dependencies.settings.public_url
const [REST, MCP] = [`${BOTH}/v1`, `${BOTH}/mcp`]
const ON_CARD = { card_ids: ['card_1'], actions: ['read' as const] }
const FIFTY = { amount_micros: 50_000_000n, period: 'day' as const, ask_above_micros: null }

async function openOwner(client_id = 'client_1') {
  const account_id = await room.openAccount()
  const alerts: SecurityAlert[] = []
  const context = {
    account_id,
    client: { id: client_id, name: 'Shopping agent', redirect_uri: 'https://agent.example/back' },
    audit_context: systemAuditContext(dependencies),
    alert: async (_tx: unknown, alert: SecurityAlert) => void alerts.push(alert),
  }
  const consent = async (decision: Partial<ConsentDecision> = {}) => {
    clock.pass(1_000)
    return recordConsent({ ...dependencies, credentials }, context, {
      resources: [REST],
      requested: ['card:read', 'card:issue'],
      granted: ['card:read'],
      cards: null,
      budget: undefined,
      requested_budget: null,
      signed_in_at: clock.now(),
      ...decision,
    })
  }
  const scopes = async (id: string | null) =>
    (await findGrant(db, id ?? ''))?.payload.resources[REST]
  const budget = async (id: string | null) =>
    (await findBudgets(db, account_id)).find(({ grant_id }) => grant_id === id)?.amount_micros
  const actions = async () => {
    const sql = 'select action from audit_entries where account_id = $1 order by id'
    return (await db.rows<{ action: string }>(sql, [account_id])).map(({ action }) => action)
  }
  return { account_id, context, alerts, consent, scopes, budget, actions }
}

test('the first consent registers the client, and a repeated one keeps its grant', async () => {
  const { consent, scopes, actions, alerts } = await openOwner()
  const id = await consent()
  assert.equal(await scopes(id), 'card:read')
  assert.deepEqual(await actions(), ['oauth.client_registered', 'oauth.granted'])
  assert.equal(await consent(), id)
  assert.deepEqual((await actions()).slice(2), ['oauth.granted'])
  assert.deepEqual(
    alerts.map(({ kind, detail }) => [kind, detail]),
    [['grant_created', 'Shopping agent (card:read)']],
    'only new scopes are emailed',
  )
})

test('a scope that is asked for again and not given is taken back; others stay', async () => {
  const { consent, scopes } = await openOwner()
  const id = await consent({ requested: ['card:read'], granted: ['card:read'] })
  await consent({ requested: ['card:issue'], granted: ['card:issue'] })
  assert.equal(await scopes(id), 'card:read card:issue')
  await consent({ requested: ['card:read'], granted: [] })
  assert.equal(await scopes(id), 'card:issue')
})

test('a token for both resources loses a scope that is refused for one of them', async () => {
  const { consent } = await openOwner()
  const id = await consent({ granted: ['card:read', 'card:issue'], resources: [BOTH, REST] })
  await consent({ resources: [MCP], granted: ['card:read'] })
  assert.deepEqual((await findGrant(db, id ?? ''))?.payload.resources, {
    [BOTH]: 'card:read',
    [MCP]: 'card:read',
    [REST]: 'card:read card:issue',
  })
})

test('consents for other cards have grants of their own', async () => {
  const { consent, scopes } = await openOwner()
  const whole = await consent({ granted: ['card:read', 'card:issue'] })
  const limited = await consent({ cards: ON_CARD })
  assert.notEqual(limited, whole)
  assert.equal(await consent({ cards: ON_CARD }), limited)
  assert.deepEqual(
    [await scopes(whole), await scopes(limited)],
    ['card:read card:issue', 'card:read'],
  )
})

test('a client keeps its budget when it asks for another selection of cards', async () => {
  const { consent, budget } = await openOwner()
  const whole = await consent({ budget: FIFTY })
  const limited = await consent({ cards: ON_CARD })
  assert.deepEqual([await budget(whole), await budget(limited)], [50_000_000n, 50_000_000n])
  await consent({ budget: null })
  assert.deepEqual([await budget(whole), await budget(limited)], [undefined, 50_000_000n])
})

test('a budget that a client asks for does not replace one without the owner', async () => {
  const { consent, budget } = await openOwner()
  const requested_budget = { ...FIFTY, amount_micros: 90_000_000_000n }
  const id = await consent({ budget: FIFTY })
  await consent({ requested_budget })
  assert.equal(await budget(id), 50_000_000n)
  const limited = await consent({ cards: ON_CARD, requested_budget })
  assert.equal(await budget(limited), 50_000_000n)
  await consent({ budget: null })
  await consent({ requested_budget: FIFTY })
  assert.equal(await budget(id), 50_000_000n)
})

test('a sign-in that has ended gives no consent', async () => {
  const { account_id, consent, actions } = await openOwner()
  const signed_in_at = clock.now()
  clock.pass(1_000)
  await db.transaction((tx) => endBrowserSessions(tx, account_id, clock.now()))
  assert.equal(await consent({ signed_in_at }), null)
  assert.deepEqual(await actions(), [])
})

test('concurrent consents of one client share one grant', async () => {
  const { account_id, consent } = await openOwner()
  const ids = await Promise.all([consent(), consent(), consent()])
  assert.equal(new Set(ids).size, 1)
  const rows = await db.rows('select from oauth_grants where account_id = $1', [account_id])
  assert.equal(rows.length, 1)
})

test('a refusal is in the audit log and gives nothing', async () => {
  const { account_id, context, actions } = await openOwner()
  await recordRefusal(db, context)
  assert.deepEqual(await actions(), ['oauth.client_registered', 'oauth.refused'])
  assert.deepEqual(
    await db.rows('select from oauth_grants where account_id = $1', [account_id]),
    [],
  )
})
