import assert from 'node:assert/strict'
import { test } from 'node:test'
import { card_policies } from './card_policies.ts'
import { operations } from './operations.ts'

test('a token for certain cards is checked against the card of every operation on a card', () => {
  const on_cards = Object.values(operations).filter(({ path }) => path.startsWith('/cards/{id}'))
  assert.ok(on_cards.length >= 10)
  for (const { name } of on_cards) assert.deepEqual(card_policies[name], { card: 'id' }, name)
})

test('only operations that neither show nor change a card ignore the restriction', () => {
  const open = Object.entries(card_policies).filter(([, policy]) => policy === 'open')
  assert.deepEqual(open.map(([name]) => name).sort(), [
    'create_account',
    'get_account',
    'get_balance',
    'get_limits',
    'get_system_health',
    'get_topup',
    'get_withdrawal',
    'list_approvals',
    'list_topups',
    'list_withdrawals',
    'request_password_reset',
    'reset_password',
    'sign_in',
  ])
})
