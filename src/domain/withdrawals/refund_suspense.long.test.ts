import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, beforeEach, test } from 'node:test'
import { assertRefused } from '#test/support/calls.ts'
import { eventually } from '#test/support/eventually.ts'
import { send } from '#test/support/http.ts'
import { assertBooksSound } from '#test/support/money.ts'
import { operate, setKillSwitch } from '#test/support/operator.ts'
import { openAccount, type Person } from '#test/support/people.ts'
import { startTestService } from '#test/support/start.ts'
import { awaitedTopup, balanceOf, eventTypes, onChain, topupOf } from '#test/support/topups.ts'

const SENDER = 'TPjjvMwjPoDC32V2dGDYTkLH4E5LAtBZ6C'
const folder = mkdtempSync(join(tmpdir(), 'florin_refunds_'))
after(() => rmSync(folder, { recursive: true, force: true }))
const list = join(folder, 'blocked')
const block = (text: string) => writeFileSync(list, `# ${text.length}\n${text}\n`)
block(SENDER)

const service = await startTestService({ env: { FLORIN_SCREENING_FILE: list } })
const { url, tasks } = service
const { node } = service.sandbox
const { db } = service.runtime
const OUT = ['send_withdrawals', 'confirm_withdrawals']

let person: Person
beforeEach(async () => {
  block(SENDER)
  person = await openAccount(url)
})

/** A deposit of a blocked sender, held: its id in suspense and its top-up's. */
async function held(amount_usd: number): Promise<{ id: string; topup_id: string }> {
  const { bearer } = person
  const { id: topup_id } = await awaitedTopup(url, bearer, Math.max(5, amount_usd))
  const at = { url, bearer, id: topup_id }
  await onChain(at, 'deposit', { amount_usd, from: SENDER })
  assert.equal((await onChain(at, 'confirm')).status_reason, 'screening')
  const { body } = await operate(url, 'GET', '/suspense')
  const found = body['data'].find((one: { topup_id: string }) => one.topup_id === topup_id)
  return { id: found.id, topup_id }
}

const refund = (id: string) => operate(url, 'POST', `/suspense/${id}/refund`)
const topup = (id: string) => topupOf(url, person.bearer, id)
const stateOf = async (id: string) => {
  const [row] = await db.rows<{ state: string }>(
    'select state from chain_transfers where movement_id = $1',
    [id],
  )
  return row?.state
}

async function settled(id: string, state: string): Promise<void> {
  const isThere = async () => {
    await tasks.run(OUT)
    node.mine(5)
    return (await stateOf(id)) === state
  }
  assert(await eventually(isThere, { within_ms: 20_000 }), await stateOf(id))
}

test('a deposit of a blocked sender stays in suspense and the response says why', async () => {
  const { id, topup_id } = await held(25)
  const refused = await refund(id)
  assertRefused(refused, 422, 'address_blocked')
  assert.match(refused.text, /stays in suspense/)
  assert.equal(await stateOf(id), 'held')
  assert.equal((await topup(topup_id)).status_reason, 'screening')
  await assertBooksSound(db)
})

test('a refund arrives in full, once, and leaves suspense when it is final', async () => {
  const { id, topup_id } = await held(25)
  block('')
  const before = node.balanceOf(SENDER)
  const reply = await refund(id)
  assert.deepEqual([reply.status, reply.body['status_reason']], [200, 'refunded'])
  assertRefused(await refund(id), 404, 'not_found')
  assertRefused(await operate(url, 'POST', `/suspense/${id}/release`), 404, 'not_found')
  await assertBooksSound(db)
  await settled(id, 'refunded')
  for (let run = 0; run < 3; run += 1) await tasks.run(OUT)
  assert.equal(node.balanceOf(SENDER) - before, 25_000_000n)
  const { status, status_reason, credited_usd } = await topup(topup_id)
  assert.deepEqual([status, status_reason, credited_usd], ['error', 'refunded', 0])
  await assertBooksSound(db)
})

test('a refund is not listed as a withdrawal of the account', async () => {
  const { id } = await held(30)
  block('')
  await refund(id)
  await settled(id, 'refunded')
  const { bearer, account_id } = person
  const { body } = await send(url, 'GET', '/v1/withdrawals', { bearer })
  assert.deepEqual(body['data'], [])
  const { balance_usd, pending_out_usd } = await balanceOf(url, bearer)
  assert.deepEqual([balance_usd, pending_out_usd], [0, 0])
  const [order] = await db.rows<{ id: string }>('select id from withdrawals where refund_of = $1', [
    id,
  ])
  const found = await send(url, 'GET', `/v1/withdrawals/${order?.id}`, { bearer })
  assertRefused(found, 404, 'not_found')
  const types = await eventTypes(db, account_id)
  assert.deepEqual(types, ['topup.created', 'topup.error', 'topup.error'])
  const { body: listed } = await operate(url, 'GET', `/withdrawals?account_id=${account_id}`)
  assert.equal(listed['data'][0].refund_of, id)
})

test('a sender blocked before signing keeps the deposit in suspense', async () => {
  const { id, topup_id } = await held(25)
  block('')
  await setKillSwitch(url, 'withdrawals', true)
  assertRefused(await refund(id), 503, 'kill_switch_active')
  await setKillSwitch(url, 'withdrawals', false)
  const before = node.balanceOf(SENDER)
  await db.connection(async (client) => {
    // Holding the lease of this chain keeps every task from signing.
    const key = ['florin:withdrawals:tron']
    await client.query('select pg_advisory_lock(hashtextextended($1, 0))', key)
    assert.equal((await refund(id)).status, 200)
    block(SENDER)
    await client.query('select pg_advisory_unlock(hashtextextended($1, 0))', key)
  })
  await settled(id, 'held')
  assert.equal((await topup(topup_id)).status_reason, 'screening')
  assert.equal(node.balanceOf(SENDER), before)
  await assertBooksSound(db)
  block('')
  assert.equal((await refund(id)).status, 200)
  await settled(id, 'refunded')
  assert.equal(node.balanceOf(SENDER) - before, 25_000_000n)
})

test('a refund that reverts on the chain is held again and can be requested again', async () => {
  const { id, topup_id } = await held(40)
  block('')
  const before = node.balanceOf(SENDER)
  const end = node.fault({ kind: 'reverted_transfer', to: SENDER })
  assert.equal((await refund(id)).status, 200)
  await settled(id, 'held')
  end()
  assert.equal((await topup(topup_id)).status_reason, 'screening')
  assert.equal(node.balanceOf(SENDER), before)
  await assertBooksSound(db)
  assert.equal((await refund(id)).status, 200)
  await settled(id, 'refunded')
  assert.equal(node.balanceOf(SENDER) - before, 40_000_000n)
  await assertBooksSound(db)
})
