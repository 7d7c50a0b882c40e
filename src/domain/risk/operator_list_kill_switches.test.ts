import assert from 'node:assert/strict'
import { test } from 'node:test'
import { kill_switch_rails } from '#contract/operator/shapes.ts'
import { openMoneyRoom } from '#test/support/money_room.ts'
import { operatorListKillSwitches } from './operator_list_kill_switches.ts'
import { operatorSetKillSwitch } from './operator_set_kill_switch.ts'

const room = await openMoneyRoom()
const list = async () =>
  (await room.operate((context) => operatorListKillSwitches(context, {}))).value.data

test('every rail has a switch, and all are off in a new program', async () => {
  assert.deepEqual(
    (await list()).map(({ rail, on, changed_at }) => [rail, on, changed_at]),
    kill_switch_rails.toSorted().map((rail) => [rail, false, null]),
  )
})

test('a switch keeps the reason and the time of its last change', async () => {
  const change = { rail: 'issuing', on: true, reason: 'BIN exhausted' } as const
  await room.operate((context) => operatorSetKillSwitch(context, change))
  const changed_at = room.clock.now().toISOString()
  const changed = (await list()).filter(({ on }) => on)
  assert.deepEqual(changed, [{ ...change, changed_at }])
})
