import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { TokenDetails } from './credential_store.ts'
import { grantedScopes } from './token_access.ts'

const settings = { public_url: 'https://florin.example' }
const API = 'https://florin.example/v1'
const MCP = 'https://florin.example/mcp'

const token: TokenDetails = {
  audience: API,
  scope: 'card:read card:control transaction:read',
  granted: { [API]: 'card:read card:control transaction:read' },
  grant_id: 'grant',
  card_ids: null,
  card_actions: null,
}

const scopesOf = (fields: Partial<TokenDetails>) => [
  ...grantedScopes(settings, { ...token, ...fields }),
]

test('a token has the scopes it was issued with', () => {
  assert.deepEqual(scopesOf({}).sort(), ['card:control', 'card:read', 'transaction:read'])
  assert.deepEqual(scopesOf({ scope: 'card:read' }), ['card:read'])
})

test('a scope that the grant has lost or never had is not in the token any more', () => {
  assert.deepEqual(scopesOf({ granted: { [API]: 'card:read' } }), ['card:read'])
  assert.deepEqual(scopesOf({ granted: {} }), [])
})

test('scopes granted for another resource do not count', () => {
  assert.deepEqual(scopesOf({ granted: { [MCP]: token.scope } }), [])
})

test('the actions of a card grant narrow the scopes of the token', () => {
  const card_ids = ['card_1']
  assert.deepEqual(scopesOf({ card_ids, card_actions: ['read'] }), ['card:read'])
  assert.deepEqual(scopesOf({ card_ids, card_actions: [] }), [])
})
