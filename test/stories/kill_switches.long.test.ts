import assert from 'node:assert/strict'
import { test } from 'node:test'
import { assertRefused, auditLog } from '#test/support/calls.ts'
import { issueCard, openHolder } from '#test/support/cards.ts'
import { balanceOf } from '#test/support/disputes.ts'
import { send } from '#test/support/http.ts'
import { assertBooksSound, wealthOf } from '#test/support/money.ts'
import { operate, setKillSwitch } from '#test/support/operator.ts'
import { authorize, callSandbox, follow, openSpender } from '#test/support/spending.ts'
import { startTestService } from '#test/support/start.ts'

const service = await startTestService()
const { url, runtime } = service
const { db } = runtime

const movementsOf = async (account_id: string) =>
  (await db.rows('select 1 from movements where account_id = $1', [account_id])).length

/** The call is refused and moves no money while the switch is on, and works afterwards. */
async function assertSwitchStops(
  rail: string,
  account_id: string,
  call: () => Promise<{ status: number }>,
): Promise<void> {
  const [wealth, movements] = [await wealthOf(db, account_id), await movementsOf(account_id)]
  await setKillSwitch(url, rail, true)
  const refused = await call()
  assertRefused(refused as Parameters<typeof assertRefused>[0], 503, 'kill_switch_active')
  assert.equal(await wealthOf(db, account_id), wealth)
  assert.equal(await movementsOf(account_id), movements)
  await setKillSwitch(url, rail, false)
  const served = await call()
  assert(served.status < 300, JSON.stringify(served))
  await assertBooksSound(db)
}

test('the issuing switch stops new cards until it is off again', async () => {
  const holder = await openHolder(service, 50)
  const body = { type: 'virtual', load_usd: 10 }
  await assertSwitchStops('issuing', holder.account_id, () =>
    send(url, 'POST', '/v1/cards', { bearer: holder.key, body }),
  )
  const card = await issueCard(url, holder.key)
  await assertSwitchStops('issuing', holder.account_id, () =>
    send(url, 'POST', `/v1/cards/${card.id}/replace`, { bearer: holder.key, body: {} }),
  )
})

test('the withdrawals switch stops new withdrawals until it is off again', async () => {
  const holder = await openHolder(service, 100)
  const body = { amount_usd: 20, address: 'TQn9Y2khEsLJW1ChVWFMSMeRDow5KcbLSE' }
  await assertSwitchStops('withdrawals', holder.account_id, () =>
    send(url, 'POST', '/v1/withdrawals', { bearer: holder.key, body }),
  )
})

test('the topups switch stops new top-ups and holds deposits for an operator to decide', async () => {
  const holder = await openHolder(service)
  const createTopup = () =>
    send(url, 'POST', '/v1/topups', { bearer: holder.key, body: { amount_usd: 25 } })
  await assertSwitchStops('topups', holder.account_id, createTopup)
  const [first, second] = [(await createTopup()).body, (await createTopup()).body]
  await setKillSwitch(url, 'topups', true)
  for (const { id } of [first, second]) {
    await callSandbox(url, holder.key, `topups/${id}/deposit`, { amount_usd: 25 })
    const confirmed = await callSandbox(url, holder.key, `topups/${id}/confirm`, {})
    assert.deepEqual(
      [confirmed.body['status'], confirmed.body['status_reason']],
      ['error', 'kill_switch'],
    )
  }
  assert.equal(await balanceOf(url, holder.key), 0)
  const held = (await operate(url, 'GET', '/suspense?order=asc')).body['data']
  assert.deepEqual(
    held.map(({ topup_id, reason, amount_usd }: Record<string, unknown>) => [
      topup_id,
      reason,
      amount_usd,
    ]),
    [first, second].map(({ id }) => [id, 'kill_switch', 25]),
  )
  const blocked = await operate(url, 'POST', `/suspense/${held[0].id}/release`)
  assertRefused(blocked, 503, 'kill_switch_active')
  await setKillSwitch(url, 'topups', false)
  const released = await operate(url, 'POST', `/suspense/${held[0].id}/release`)
  assert.deepEqual([released.status, released.body['status']], [200, 'completed'])
  assert.equal(await balanceOf(url, holder.key), 25)
  await assertBooksSound(db)
  const refunded = await operate(url, 'POST', `/suspense/${held[1].id}/refund`)
  assert.deepEqual([refunded.body['status'], refunded.body['status_reason']], ['error', 'refunded'])
  assertRefused(await operate(url, 'POST', `/suspense/${held[1].id}/refund`), 404, 'not_found')
  assert.equal(await balanceOf(url, holder.key), 25)
  await assertBooksSound(db)
  const entries = await auditLog(url, holder.bearer, '&actor_type=operator')
  assert.deepEqual(
    entries.map(({ action }) => action),
    ['release_suspense', 'refund_suspense'],
  )
})

test('the authorizations switch declines purchases, but approved ones are still captured', async () => {
  const spender = await openSpender(service, { usd: 50 })
  const held = await authorize(url, spender, { amount: 10 })
  const before = await movementsOf(spender.account_id)
  await setKillSwitch(url, 'authorizations', true)
  const declined = await authorize(url, spender, { amount: 5 })
  assert.equal(declined.type, 'decline')
  assert.equal(await movementsOf(spender.account_id), before)
  assert.equal((await follow(url, spender, { id: held.id, verb: 'capture' })).type, 'capture')
  await setKillSwitch(url, 'authorizations', false)
  assert.equal((await authorize(url, spender, { amount: 5 })).type, 'authorization')
  await assertBooksSound(db)
})

test('a switch shows its reason, and the operator is recorded', async () => {
  await setKillSwitch(url, 'issuing', true)
  const { body } = await operate(url, 'GET', '/kill_switches')
  const issuing = body['data'].find(({ rail }: { rail: string }) => rail === 'issuing')
  assert.deepEqual([issuing.on, issuing.reason], [true, 'a test'])
  await setKillSwitch(url, 'issuing', false)
  // Listing the actions is itself the newest action.
  const [, recorded] = (await operate(url, 'GET', '/actions?limit=2')).body['data']
  assert.equal(recorded.action, 'operator_set_kill_switch')
  assert.deepEqual(recorded.input, { rail: 'issuing', on: false, reason: 'a test' })
  assert.equal(recorded.operator.name, 'FLORIN_OPERATOR_TOKEN')
})
