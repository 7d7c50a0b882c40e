import assert from 'node:assert/strict'
import { test } from 'node:test'
import { assertBooksSound } from '#test/support/money.ts'
import { openMoneyRoom } from '#test/support/money_room.ts'
import { operatorListHeldDeposits } from './operator_list_held_deposits.ts'
import { operatorReleaseDeposit } from './operator_release_deposit.ts'
import { findTopupOf } from './topup_store.ts'

const room = await openMoneyRoom()
const { db } = room
const list = async () =>
  (await room.operate((context) => operatorListHeldDeposits(context, {}))).value.data
const release = (id: string) => room.operate((context) => operatorReleaseDeposit(context, { id }))

const setKillSwitch = (on: boolean) =>
  db.run(`update kill_switches set is_on = $1 where rail = 'topups'`, [on])

/** A top-up whose only deposit is held for this reason. */
async function openHeld(reason: 'below_minimum' | 'screening' | 'kill_switch') {
  const account_id = await room.openAccount()
  const topup = await room.openTopup(account_id)
  if (reason === 'kill_switch') await setKillSwitch(true)
  const micros = reason === 'below_minimum' ? 999_999n : 25_000_000n
  const id = await room.deposit(topup, micros, reason === 'screening' ? 'block' : 'allow')
  await setKillSwitch(false)
  return { account_id, topup, id, micros }
}

test('a release credits a deposit held for any reason, once, with an event and an audit entry', async () => {
  for (const reason of ['below_minimum', 'screening', 'kill_switch'] as const) {
    const { account_id, topup, id, micros } = await openHeld(reason)
    const held = await findTopupOf(db, account_id, topup.id)
    assert.deepEqual([held.status, held.status_reason], ['error', reason])
    const { value, events, entries } = await release(id)
    assert.deepEqual([value.status, value.credited_usd], ['completed', Number(micros) / 1e6])
    assert.deepEqual(
      events.map(({ type, amount_micros }) => [type, amount_micros]),
      [['topup.confirmed', micros]],
    )
    assert.deepEqual(
      entries.map(({ action }) => action),
      ['release_suspense'],
    )
    await assert.rejects(release(id), { code: 'not_found' })
  }
  await assertBooksSound(db)
})

test('a release also credits the smaller deposits whose sum reaches the minimum with it', async () => {
  const account_id = await room.openAccount()
  const topup = await room.openTopup(account_id)
  await room.deposit(topup, 400_000n)
  await setKillSwitch(true)
  const few = await room.deposit(topup, 500_000n)
  const enough = await room.deposit(topup, 50_000_000n)
  await setKillSwitch(false)
  const { value: below } = await release(few)
  assert.deepEqual([below.status, below.credited_usd], ['completed', 0.5])
  const { value, events } = await release(enough)
  assert.equal(value.credited_usd, 50.9)
  assert.deepEqual(
    events.map(({ message, amount_micros }) => [message, amount_micros]),
    [['$50.40 deposit credited after review.', 50_400_000n]],
  )
  assert.equal((await list()).filter((held) => held.account_id === account_id).length, 0)
  await assertBooksSound(db)
})

test('of concurrent releases of one deposit exactly one succeeds', async () => {
  const { account_id, topup, id } = await openHeld('screening')
  const results = await Promise.allSettled(Array.from({ length: 5 }, () => release(id)))
  assert.equal(results.filter(({ status }) => status === 'fulfilled').length, 1)
  assert.equal((await findTopupOf(db, account_id, topup.id)).credited_micros, 25_000_000n)
  await assertBooksSound(db)
})

test('refuses an unknown ID and a credited deposit with the same 404', async () => {
  const topup = await room.openTopup(await room.openAccount())
  const credited = await room.deposit(topup, 25_000_000n)
  for (const id of [credited, 'bal_unknown']) {
    await assert.rejects(release(id), {
      code: 'not_found',
      message: 'No such deposit in suspense.',
    })
  }
})

test('refuses while the kill switch of top-ups is on, and the deposit stays held', async () => {
  const { id } = await openHeld('screening')
  await setKillSwitch(true)
  await assert.rejects(release(id), { code: 'kill_switch_active' })
  await setKillSwitch(false)
  assert((await list()).some((deposit) => deposit.id === id))
})
