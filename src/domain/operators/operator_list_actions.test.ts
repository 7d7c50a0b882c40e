import assert from 'node:assert/strict'
import { test } from 'node:test'
import { openMoneyRoom } from '#test/support/money_room.ts'
import { recordOperatorAction } from './operator_actions.ts'
import { operatorListActions } from './operator_list_actions.ts'

const room = await openMoneyRoom()
const operator = { id: 'op_1', name: 'Olga', role: 'risk' } as const
const record = (action: string, resource: { type: string; id: string } | null = null) =>
  recordOperatorAction(room.db, {
    operator,
    action,
    resource,
    account_id: 'acct_1',
    input: { reason: 'a test' },
    request_id: 'req_1',
    ip: '203.0.113.9',
    now: room.clock.now(),
  })
const list = async (input: Parameters<typeof operatorListActions>[1] = {}) =>
  (await room.operate((context) => operatorListActions(context, input))).value.data

test('shows who did what to which object, from where, with the input', async () => {
  await record('operator_freeze_card', { type: 'card', id: 'card_1' })
  const [{ id, ...shown } = { id: '' }] = await list()
  assert.match(id, /^\d+$/)
  assert.deepEqual(shown, {
    operator,
    action: 'operator_freeze_card',
    resource: { type: 'card', id: 'card_1' },
    account_id: 'acct_1',
    input: { reason: 'a test' },
    request_id: 'req_1',
    ip: '203.0.113.9',
    created_at: room.clock.now().toISOString(),
  })
})

test('lists the newest first; before continues without a gap', async () => {
  for (const action of ['a', 'b', 'c']) await record(action)
  const newest = await list({ limit: 2 })
  assert.deepEqual(
    newest.map(({ action }) => action),
    ['c', 'b'],
  )
  const [next] = await list({ limit: 1, before: newest[1]?.id ?? '' })
  assert.equal(next?.action, 'a')
})
