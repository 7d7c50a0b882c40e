import assert from 'node:assert/strict'
import { beforeEach, test } from 'node:test'
import { openMoneyRoom } from '#test/support/money_room.ts'
import {
  findKillSwitchChanges,
  findKillSwitches,
  pauseRails,
  takeOverChanges,
  updateKillSwitch,
} from './kill_switch_store.ts'

const [home, other] = [await openMoneyRoom(), await openMoneyRoom()]
const NOON = new Date('2031-03-04T12:00:00.000Z')
const MORNING = new Date('2031-03-04T08:00:00.000Z')

beforeEach(async () => {
  for (const { db } of [home, other]) {
    await db.run(
      'update kill_switches set is_on = false, reason = null, changed_at = null, is_local = false',
    )
  }
})

const set = (rail: 'topups' | 'issuing', on: boolean, now = NOON) =>
  updateKillSwitch(home.db, { rail, on, reason: on ? 'A fork' : 'Over' }, now)
const takeOver = async () => takeOverChanges(other.db, await findKillSwitchChanges(home.db))
const shown = async ({ db }: typeof home) => findKillSwitches(db)

test('a cell takes over what operators set, with its reason and time', async () => {
  await set('topups', true)
  await set('issuing', true)
  await takeOver()
  assert.deepEqual(await shown(other), await shown(home))
  await set('issuing', false)
  await takeOver()
  assert.deepEqual(await shown(other), await shown(home))
})

test('of two changes the later one counts, also from a node whose clock is behind', async () => {
  await set('issuing', true)
  const earlier = await findKillSwitchChanges(home.db)
  await set('issuing', false, MORNING)
  await takeOver()
  await takeOverChanges(other.db, earlier)
  const isOn = (await shown(other)).some(({ on }) => on)
  assert.equal(isOn, false)
})

test('a restored cell stays paused until an operator decides, and pauses no other cell', async () => {
  await set('issuing', true)
  await set('issuing', false)
  await takeOver()
  for (const { db } of [home, other]) {
    await pauseRails(db, ['issuing'], { reason: 'restored', now: MORNING })
  }
  await takeOver()
  const reasonIn = async (cell: typeof home) =>
    (await shown(cell)).filter(({ on }) => on).map(({ rail, reason }) => [rail, reason])
  assert.deepEqual(await reasonIn(other), [['issuing', 'restored']])
  await pauseRails(home.db, ['withdrawals'], { reason: 'restored', now: NOON })
  await takeOver()
  assert.deepEqual(await reasonIn(other), [['issuing', 'restored']])
  await set('issuing', false)
  await takeOver()
  assert.deepEqual(await reasonIn(other), [])
})
