import assert from 'node:assert/strict'
import { test } from 'node:test'
import { openMoneyRoom } from '#test/support/money_room.ts'
import { findCurrentMaintenance } from './maintenance_store.ts'
import { operatorAnnounceMaintenance } from './operator_announce_maintenance.ts'

const room = await openMoneyRoom()
const ahead = (hours: number) =>
  new Date(room.clock.now().getTime() + hours * 3_600_000).toISOString()
const announce = async (input: Parameters<typeof operatorAnnounceMaintenance>[1]) =>
  (await room.operate((context) => operatorAnnounceMaintenance(context, input))).value

test('maintenance concerns all components unless some are named', async () => {
  const planned = { starts_at: ahead(1), ends_at: ahead(2), message: 'A new database.' }
  const all = ['issuer', 'rails', 'network']
  assert.deepEqual(await announce(planned), { ...planned, components: all })
  const part = { ...planned, components: ['rails' as const] }
  assert.deepEqual(await announce(part), part)
  assert.equal((await findCurrentMaintenance(room.db, room.clock.now())).length, 2)
})

test('maintenance that has begun can still be announced', async () => {
  const begun = { starts_at: ahead(-1), ends_at: ahead(1), message: 'Now.' }
  assert.equal((await announce(begun)).starts_at, begun.starts_at)
})

test('refuses an end before the start or in the past', async () => {
  for (const [from, to] of [
    [2, 1],
    [1, 1],
    [-2, -1],
    [-1, 0],
  ] as const) {
    const wrong = { starts_at: ahead(from), ends_at: ahead(to), message: 'Never.' }
    await assert.rejects(announce(wrong), {
      code: 'invalid_request',
      details: [{ field: 'ends_at', message: 'must be in the future and after the start' }],
    })
  }
})

test('refuses maintenance of more than 30 days, because an announcement cannot be taken back', async () => {
  const planned = { starts_at: ahead(1), message: 'A wrong year.' }
  const longest = await announce({ ...planned, ends_at: ahead(1 + 30 * 24) })
  assert.equal(longest.ends_at, ahead(1 + 30 * 24))
  for (const days of [31, 365, 36_500]) {
    await assert.rejects(announce({ ...planned, ends_at: ahead(1 + days * 24) }), {
      code: 'invalid_request',
      details: [{ field: 'ends_at', message: 'must be at most 30 days after the start' }],
    })
  }
})
