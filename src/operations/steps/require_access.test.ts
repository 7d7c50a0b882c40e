import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { OperationShape } from '#contract/operation.ts'
import { operations } from '#contract/operations.ts'
import { Problem } from '#contract/problem.ts'
import { type Scope, scopes } from '#contract/scopes.ts'
import type { Caller } from '#domain/context/context.ts'
import { shapes } from '#test/support/contract.ts'
import { requireAccess, requireFieldAccess } from './require_access.ts'

const all_scopes = Object.keys(scopes) as Scope[]

function caller(kind: Caller['kind'], held: readonly Scope[] = all_scopes): Caller {
  return {
    kind,
    id: 'x_1',
    name: null,
    account_id: 'acct_1',
    scopes: new Set(held),
    card_ids: null,
    rate_profile: null,
  } as Caller
}

function verdict(work: () => void): string {
  try {
    work()
    return 'allowed'
  } catch (cause) {
    assert.ok(cause instanceof Problem, String(cause))
    assert.equal(cause.status, 403)
    return `${cause.code}: ${cause.message}`
  }
}

/** The contract's table, written out again: the scopes that a token needs, by operation. */
const needs: Record<string, { all: Scope[] } | { any: Scope[] } | null> = {
  get_account: { all: ['account:read'] },
  get_balance: { all: ['balance:read'] },
  get_balance_history: { all: ['balance:read'] },
  create_topup: { all: ['topup:create'] },
  cancel_topup: { all: ['topup:create'] },
  list_topups: { all: ['topup:read'] },
  get_topup: { all: ['topup:read'] },
  list_cards: { all: ['card:read'] },
  get_card: { all: ['card:read'] },
  issue_card: { all: ['card:issue'] },
  reveal_pan: { all: ['card:reveal_pan'] },
  replace_card: { all: ['card:issue', 'card:control'] },
  load_card: { all: ['card:control'] },
  unload_card: { all: ['card:control'] },
  freeze_card: { all: ['card:control'] },
  unfreeze_card: { all: ['card:control'] },
  cancel_card: { all: ['card:control'] },
  set_card_limits: { all: ['card:control'] },
  set_mcc_rules: { all: ['card:control'] },
  set_card_geo: { all: ['card:control'] },
  update_card: { all: ['card:control'] },
  list_transactions: { all: ['transaction:read'] },
  get_transaction: { all: ['transaction:read'] },
  list_card_transactions: { all: ['transaction:read'] },
  get_spending: { all: ['transaction:read'] },
  list_statements: { all: ['balance:read', 'transaction:read'] },
  get_auth_details: { all: ['transaction:read'] },
  get_activity: { any: ['topup:read', 'card:read', 'transaction:read'] },
  filter_activity: { any: ['topup:read', 'card:read', 'transaction:read'] },
  withdraw: { all: ['withdrawal:create'] },
  list_withdrawals: { all: ['withdrawal:read'] },
  get_withdrawal: { all: ['withdrawal:read'] },
  file_dispute: { all: ['dispute:write'] },
  add_dispute_evidence: { all: ['dispute:write'] },
  list_disputes: { any: ['dispute:write', 'transaction:read'] },
  get_dispute: { any: ['dispute:write', 'transaction:read'] },
  list_webhooks: { all: ['webhook:write'] },
  create_webhook: { all: ['webhook:write'] },
  update_webhook: { all: ['webhook:write'] },
  delete_webhook: { all: ['webhook:write'] },
  replay_webhook: { all: ['webhook:write'] },
  get_system_health: { all: ['system:read'] },
  get_limits: { all: ['system:read'] },
  list_approvals: { all: [] },
  decide_approval: null,
}
for (const name of ['sign_out', 'update_account', 'enable_2fa', 'disable_2fa', 'get_audit_log']) {
  needs[name] = null
}
for (const name of ['list_api_keys', 'create_api_key', 'revoke_api_key']) needs[name] = null
for (const name of ['list_sessions', 'revoke_session']) needs[name] = null
for (const name of ['open_ticket', 'list_tickets', 'get_ticket', 'reply_ticket']) needs[name] = null

const session_only = ['sign_out', 'enable_2fa', 'disable_2fa', 'decide_approval']
const bearerless = ['create_account', 'sign_in', 'request_password_reset', 'reset_password']

test('the table names every operation that asks for a bearer', () => {
  const named = [...Object.keys(needs), ...bearerless].sort()
  assert.deepEqual(named, Object.keys(operations).sort())
})

for (const operation of shapes.filter(({ name }) => !bearerless.includes(name))) {
  const need = needs[operation.name] ?? null

  test(`${operation.name}: every kind of bearer and every scope, alone and missing`, () => {
    const asks = (who: Caller | null) =>
      verdict(() => requireAccess({ operation, caller: who, operator: null }))
    assert.match(asks(null), /^credential_not_allowed/)
    const expectSession = operation.name === 'reveal_pan' ? /^credential_not_allowed/ : /^allowed/
    assert.match(asks(caller('session')), expectSession)
    const isSessionOnly = session_only.includes(operation.name)
    assert.match(asks(caller('api_key')), isSessionOnly ? /^credential_not_allowed/ : /^allowed/)

    if (need === null) {
      assert.match(asks(caller('oauth_client')), /^credential_not_allowed/)
      return
    }
    assert.equal(asks(caller('oauth_client')), 'allowed')
    const wanted = 'all' in need ? need.all : need.any
    const withoutScopes = wanted.length === 0 ? /^allowed/ : /^insufficient_scope/
    assert.match(asks(caller('oauth_client', [])), withoutScopes)
    for (const scope of all_scopes) {
      const isEnough: boolean =
        'all' in need ? wanted.every((each) => each === scope) : wanted.includes(scope)
      const alone = asks(caller('oauth_client', [scope]))
      assert.equal(alone === 'allowed', isEnough, `${scope} alone: ${alone}`)
      const without = asks(
        caller(
          'oauth_client',
          all_scopes.filter((each) => each !== scope),
        ),
      )
      const isMissed: boolean = 'all' in need && wanted.includes(scope)
      assert.equal(without === 'allowed', !isMissed, `all but ${scope}: ${without}`)
      if (isMissed) assert.ok(without.includes(scope), 'the missing scope is named')
    }
  })
}

test('operations open to anyone require nothing', () => {
  assert.equal([...bearerless].length, 4)
  for (const name of bearerless) {
    const operation = operations[name as keyof typeof operations] as OperationShape
    for (const who of [null, caller('session'), caller('api_key'), caller('oauth_client', [])]) {
      assert.doesNotThrow(() => requireAccess({ operation, caller: who, operator: null }))
      const input = { email: 'a@b.cc', password: 'x' }
      assert.doesNotThrow(() => requireFieldAccess({ operation, caller: who, input }))
    }
  }
})

test('an API key may send notifications to update_account and nothing else', () => {
  const sends = (who: Caller, input: Record<string, unknown>) =>
    verdict(() => requireFieldAccess({ operation: operations.update_account, caller: who, input }))
  const key = caller('api_key')
  assert.equal(sends(key, { notifications: {} }), 'allowed')
  assert.equal(sends(key, {}), 'allowed')
  for (const field of ['email', 'password', 'current_password']) {
    assert.match(sends(key, { [field]: 'x' }), /^credential_not_allowed.*notifications/)
    assert.match(sends(key, { notifications: {}, [field]: 'x' }), /^credential_not_allowed/)
    assert.equal(sends(caller('session'), { [field]: 'x' }), 'allowed')
  }
})

test('a card that is loaded as it is issued asks a token for card:control too', () => {
  const operation = operations.issue_card
  const sends = (held: readonly Scope[], input: Record<string, unknown>) =>
    verdict(() => requireFieldAccess({ operation, caller: caller('oauth_client', held), input }))
  assert.equal(sends(['card:issue'], { type: 'virtual' }), 'allowed')
  assert.equal(sends(['card:issue'], { type: 'virtual', load_usd: 0 }), 'allowed')
  assert.match(sends(['card:issue'], { load_usd: 0.01 }), /^insufficient_scope.*card:control/)
  assert.equal(sends(['card:issue', 'card:control'], { load_usd: 25 }), 'allowed')
  for (const kind of ['session', 'api_key'] as const) {
    requireFieldAccess({ operation, caller: caller(kind), input: { load_usd: 25 } })
  }
})

test('no other operation asks more for one of its fields', () => {
  for (const operation of shapes) {
    const { access } = operation
    if (access === 'anyone' || access.oauth === null || !('all' in access.oauth)) continue
    const fields = Object.keys(access.oauth.with_field ?? {})
    assert.deepEqual(fields, operation.name === 'issue_card' ? ['load_usd'] : [], operation.name)
  }
})
