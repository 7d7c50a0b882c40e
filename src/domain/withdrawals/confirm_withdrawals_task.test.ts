import assert from 'node:assert/strict'
import { beforeEach, test } from 'node:test'
import type { Withdrawal } from '#contract/withdrawals.ts'
import { withLease } from '#platform/postgres/lease.ts'
import { advance, assertRefused } from '#test/support/calls.ts'
import { eventually } from '#test/support/eventually.ts'
import { send } from '#test/support/http.ts'
import { assertBooksSound } from '#test/support/money.ts'
import { operate } from '#test/support/operator.ts'
import { openAccount, type Person } from '#test/support/people.ts'
import { startTestService } from '#test/support/start.ts'
import { balanceOf, eventTypes, fund } from '#test/support/topups.ts'
import { endOnChain, requested, WALLET, withdrawalOf } from '#test/support/withdrawals.ts'

const service = await startTestService()
const { url, tasks, sandbox } = service
const { node } = sandbox
const { db } = service.runtime
const TASKS = ['send_withdrawals', 'confirm_withdrawals']

let person: Person
let account: { url: string; bearer: string }
beforeEach(async () => {
  person = await openAccount(url)
  account = { url, bearer: person.bearer }
  await fund(url, person.bearer, 500)
})

const balances = async () => {
  const { balance_usd, pending_out_usd } = await balanceOf(url, person.bearer)
  return [balance_usd, pending_out_usd]
}
const arrived = () => node.balanceOf(WALLET)
const withdrawal = (id: string) => withdrawalOf(account, id)

async function until(id: string, is: (withdrawal: Withdrawal) => boolean): Promise<void> {
  const happened = await eventually(
    async () => {
      await tasks.run(TASKS)
      return is(await withdrawal(id))
    },
    { within_ms: 15_000 },
  )
  assert(happened, JSON.stringify(await withdrawal(id)))
}

test('pending → broadcasted with an event → completed at finality; the net amount arrives', async () => {
  const before = arrived()
  const { id } = await requested(account, 100)
  await until(id, ({ status }) => status === 'broadcasted')
  const sent = await withdrawal(id)
  assert.match(sent.txid ?? '', /^[0-9a-f]{64}$/)
  assert.notEqual(sent.broadcasted_at, null)
  assert.deepEqual(await balances(), [400, 100])
  const done = await endOnChain(account, id, 'confirm')
  assert.equal(done.status, 'completed')
  assert.equal(done.txid, sent.txid)
  assert.equal(arrived() - before, 99_000_000n)
  assert.deepEqual(await balances(), [400, 0])
  const types = await eventTypes(db, person.account_id)
  assert.equal(types.filter((type) => type === 'withdrawal.broadcasted').length, 1)
  await assertBooksSound(db)
})

test('a final failure returns the whole amount', async () => {
  const before = arrived()
  const { id } = await requested(account, 100)
  const failed = await endOnChain(account, id, 'fail')
  assert.deepEqual([failed.status, failed.status_reason], ['failed', 'reverted'])
  assert.deepEqual(await balances(), [500, 0])
  assert.equal(arrived(), before)
  await assertBooksSound(db)
})

/** A withdrawal whose token kept a part of the amount, held once the transfer is final. */
async function heldMismatch(): Promise<Withdrawal> {
  node.fault({ kind: 'taxed_transfer', to: WALLET })
  const { id } = await requested(account, 100)
  await until(id, ({ status }) => status === 'broadcasted')
  node.mine(30)
  await until(id, ({ status_reason }) => status_reason === 'transfer_mismatch')
  return withdrawal(id)
}

test('a final transfer of another amount awaits an operator; no money returns or is sent', async () => {
  const before = arrived()
  const { id, status, txid } = await heldMismatch()
  assert.deepEqual([status, arrived() - before], ['broadcasted', 98_010_000n])
  assert.deepEqual(await balances(), [400, 100])
  const listed = await operate(url, 'GET', `/withdrawals?status=review`)
  const [row] = listed.body['data'].filter((one: { id: string }) => one.id === id)
  assert.deepEqual([row.in_review, row.status_reason], [true, 'transfer_mismatch'])
  const { text } = await send(url, 'GET', '/metrics')
  assert.match(text, /florin_held_withdrawals_total [1-9]/)
  await tasks.run(TASKS)
  assert.equal(arrived() - before, 98_010_000n)
  await assertBooksSound(db)
  const settled = await operate(url, 'POST', `/withdrawals/${id}/approve`)
  assert.deepEqual([settled.body['status'], settled.body['txid']], ['completed', txid])
  await tasks.run(TASKS)
  assert.equal(arrived() - before, 98_010_000n)
  assert.deepEqual(await balances(), [400, 0])
  await assertBooksSound(db)
})

test('an operator can return the money of a final transfer of another amount, once', async () => {
  const { id } = await heldMismatch()
  const returned = await operate(url, 'POST', `/withdrawals/${id}/refuse`)
  assert.deepEqual([returned.body['status'], returned.body['status_reason']], ['failed', 'refused'])
  for (const decision of ['approve', 'refuse']) {
    const again = await operate(url, 'POST', `/withdrawals/${id}/${decision}`)
    assertRefused(again, 409, 'invalid_request')
  }
  assert.deepEqual(await balances(), [500, 0])
  await assertBooksSound(db)
})

test('a mined transfer can still fail before it is final', async () => {
  const { id } = await requested(account, 50)
  await until(id, ({ status }) => status === 'broadcasted')
  node.mine(2)
  const failed = await endOnChain(account, id, 'fail')
  assert.equal(failed.status, 'failed')
  assert.deepEqual(await balances(), [500, 0])
})

test('one of two withdrawals to the same address fails without affecting the other', async () => {
  const before = arrived()
  const other = await requested(account, 60)
  const chosen = await requested(account, 60)
  const failed = await endOnChain(account, chosen.id, 'fail')
  assert.equal(failed.status, 'failed')
  const done = await endOnChain(account, other.id, 'confirm')
  assert.equal(done.status, 'completed')
  assert.equal(arrived() - before, 59_000_000n)
  assert.deepEqual(await balances(), [440, 0])
  await assertBooksSound(db)
})

test('a lost response, a busy node and a duplicate still send one transfer', async () => {
  const before = arrived()
  node.fault({ kind: 'refused_broadcast', code: 'SERVER_BUSY' })
  node.fault({ kind: 'lost_answer', path: 'broadcasttransaction', times: 2 })
  const { id } = await requested(account, 40)
  const done = await endOnChain(account, id, 'confirm')
  assert.equal(done.status, 'completed')
  assert.equal(arrived() - before, 39_000_000n)
  await assertBooksSound(db)
})

test('a transfer that is never mined is replaced only after it expired', async () => {
  const before = arrived()
  const refusing = node.fault({ kind: 'refused_broadcast', code: 'TAPOS_ERROR', times: 1_000 })
  const { id } = await requested(account, 30)
  const attempts = () =>
    db.rows('select 1 from withdrawal_transfers where withdrawal_id = $1', [id])
  // While a sweep has the lease, a run does nothing.
  const isSigned = async () => {
    await tasks.run(TASKS)
    return (await attempts()).length > 0
  }
  assert(await eventually(isSigned, { within_ms: 15_000 }))
  assert.equal((await attempts()).length, 1)
  await advance(url, person.bearer, 5 * 60)
  await tasks.run(TASKS)
  assert.equal((await attempts()).length, 1)
  assert.equal((await withdrawal(id)).status, 'pending')
  await advance(url, person.bearer, 7 * 60)
  refusing()
  const done = await endOnChain(account, id, 'confirm')
  assert.equal(done.status, 'completed')
  assert.equal((await attempts()).length, 2)
  assert.equal(arrived() - before, 29_000_000n)
  await assertBooksSound(db)
})

test('a transfer lost in a reorg is mined again, once', async () => {
  const before = arrived()
  const { id } = await requested(account, 20)
  await until(id, ({ status }) => status === 'broadcasted')
  node.mine(2)
  node.reorg({ depth: 3, keep: 'none' })
  const done = await endOnChain(account, id, 'confirm')
  assert.equal(done.status, 'completed')
  assert.equal(arrived() - before, 19_000_000n)
})

test('with the kill switch on, reserved withdrawals are neither signed nor sent', async () => {
  const before = arrived()
  const switchTo = (is_on: boolean) =>
    db.run(`update kill_switches set is_on = $1 where rail = 'withdrawals'`, [is_on])
  // Under the lease no background run comes between the request and the switch.
  let id = ''
  const isRequested = () =>
    withLease(db, 'withdrawals:tron', async () => {
      id = (await requested(account, 20)).id
      await switchTo(true)
    })
  assert(await eventually(isRequested, { within_ms: 10_000 }))
  await tasks.run(TASKS)
  node.mine(60)
  const [held] = await db.rows('select step from withdrawals where id = $1', [id])
  assert.deepEqual(held, { step: 'reserved' })
  const signed = 'select 1 from withdrawal_transfers where withdrawal_id = $1'
  assert.deepEqual(await db.rows(signed, [id]), [])
  assert.equal(arrived(), before)
  await switchTo(false)
  assert.equal((await endOnChain(account, id, 'confirm')).status, 'completed')
})
