import assert from 'node:assert/strict'
import { test } from 'node:test'
import { kill_switch_rails } from '#contract/operator/shapes.ts'
import { eventually } from '#test/support/eventually.ts'
import { openMoneyRoom } from '#test/support/money_room.ts'
import { isKilled, requireRailOpen } from './kill_switch.ts'
import { KILL_SWITCH_CHANNEL } from './kill_switch_store.ts'
import { operatorSetKillSwitch } from './operator_set_kill_switch.ts'

const room = await openMoneyRoom()
const set = (input: Parameters<typeof operatorSetKillSwitch>[1]) =>
  room.operate((context) => operatorSetKillSwitch(context, input))

test('a switch stops its own rail and no other, until it is turned off', async () => {
  for (const rail of kill_switch_rails) {
    const { value } = await set({ rail, on: true, reason: 'A chain fork.' })
    const changed_at = room.clock.now().toISOString()
    assert.deepEqual(value, { rail, on: true, reason: 'A chain fork.', changed_at })
    const killed = await Promise.all(kill_switch_rails.map((each) => isKilled(room.db, each)))
    assert.deepEqual(
      kill_switch_rails.filter((_, at) => killed[at]),
      [rail],
    )
    await assert.rejects(requireRailOpen(room.db, rail), { code: 'kill_switch_active' })
    await set({ rail, on: false, reason: 'Over.' })
    await requireRailOpen(room.db, rail)
  }
})

test('with several cells a change is sent to those that take it over, and only when it is made', async () => {
  const cells = [{ number: 1, url: 'postgres://127.0.0.1:9/florin' }]
  const many = await openMoneyRoom({ FLORIN_CELLS: JSON.stringify(cells) })
  let changes = 0
  const stop = await many.db.listen(KILL_SWITCH_CHANNEL, () => {
    changes += 1
  })
  const change = { rail: 'issuing' as const, on: true, reason: 'A leak.' }
  await assert.rejects(
    many.operate(async (context) => {
      await operatorSetKillSwitch(context, change)
      throw new Error('the call fails')
    }),
  )
  await many.operate((context) => operatorSetKillSwitch(context, change))
  assert(await eventually(async () => changes > 0, { within_ms: 5_000 }))
  assert.equal(changes, 1)
  await stop()
})
