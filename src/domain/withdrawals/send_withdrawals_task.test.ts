import assert from 'node:assert/strict'
import { beforeEach, test } from 'node:test'
import type { Failpoint } from '#platform/runtime/failpoints.ts'
import { assertRefused } from '#test/support/calls.ts'
import { eventually } from '#test/support/eventually.ts'
import { assertBooksSound } from '#test/support/money.ts'
import { openMoneyRoom } from '#test/support/money_room.ts'
import { operate, setKillSwitch } from '#test/support/operator.ts'
import { openAccount, type Person } from '#test/support/people.ts'
import { startTestService } from '#test/support/start.ts'
import { balanceOf, fund } from '#test/support/topups.ts'
import {
  openWithdrawal,
  signedOutcome,
  withdrawalDependencies,
} from '#test/support/withdrawal_room.ts'
import { endOnChain, requested, WALLET } from '#test/support/withdrawals.ts'
import { sendWithdrawalsTask } from './send_withdrawals_task.ts'

const points = new Map<Failpoint, () => void>()
const blocked = new Set<string>()
const { url, tasks, sandbox, runtime } = await startTestService({
  env: { FLORIN_RISK: JSON.stringify({ withdrawal_review_usd: 200 }) },
  dependencies: {
    fail: (point) => points.get(point)?.(),
    screener: {
      screen: async ({ address }) => ({
        decision: blocked.has(address) ? 'block' : 'allow',
        source: 'a test',
        list_version: '1',
      }),
    },
  },
})
const { db } = runtime
const TASKS = ['send_withdrawals', 'confirm_withdrawals']
const REASON = 'account_suspended'

let person: Person
let account: { url: string; bearer: string }
beforeEach(async () => {
  points.clear()
  blocked.clear()
  person = await openAccount(url)
  account = { url, bearer: person.bearer }
  await fund(url, person.bearer, 500)
})

const suspend = () => operate(url, 'POST', `/accounts/${person.account_id}/suspend`)
const reinstate = () => operate(url, 'POST', `/accounts/${person.account_id}/reinstate`)
const decide = (id: string, decision: 'approve' | 'refuse') =>
  operate(url, 'POST', `/withdrawals/${id}/${decision}`)

async function shown(id: string): Promise<[string, string | null]> {
  const path = `/withdrawals?account_id=${person.account_id}`
  const { body } = await operate(url, 'GET', path)
  const found = body['data'].find((one: { id: string }) => one.id === id)
  return [found.status, found.status_reason]
}

async function runTasks(count: number): Promise<void> {
  for (let left = count; left > 0; left -= 1) await tasks.run(TASKS)
}

/** Requests withdrawals and changes something before a task signs them. */
async function requestedAndThen(meanwhile: () => unknown, ...amounts: number[]): Promise<string[]> {
  points.set('before_sign', () => {
    throw new Error('nothing is signed yet')
  })
  const ids: string[] = []
  for (const amount_usd of amounts) ids.push((await requested(account, amount_usd)).id)
  await meanwhile()
  points.clear()
  return ids
}

const requestedAndSuspended = (...amounts: number[]) => requestedAndThen(suspend, ...amounts)

const transfersOf = (id: string) =>
  db.rows('select 1 from withdrawal_transfers where withdrawal_id = $1', [id])

test('a suspension keeps an unsigned withdrawal pending until the account is reinstated', async () => {
  const before = sandbox.node.balanceOf(WALLET)
  const [id = ''] = await requestedAndSuspended(100)
  await runTasks(3)
  assert.deepEqual(await shown(id), ['pending', REASON])
  assert.equal((await transfersOf(id)).length, 0)
  await reinstate()
  assert.deepEqual(await shown(id), ['pending', null])
  assert.equal((await endOnChain(account, id, 'confirm')).status, 'completed')
  assert.equal(sandbox.node.balanceOf(WALLET) - before, 99_000_000n)
  await assertBooksSound(db)
})

test('a suspension during signing keeps the transfer from being sent', async () => {
  const before = sandbox.node.balanceOf(WALLET)
  points.set('before_sign', () => {
    throw new Error('nothing is signed yet')
  })
  const { id } = await requested(account, 50)
  // The row's lock keeps the signed transfer from being stored until the account is suspended.
  await db.transaction(async (tx) => {
    await tx.rows('select 1 from withdrawals where id = $1 for update', [id])
    points.clear()
    const signed = new Promise<void>((done) => points.set('after_sign', done))
    void tasks.run(TASKS)
    await signed
    await suspend()
  })
  await runTasks(3)
  const sent = sandbox.node.balanceOf(WALLET) - before
  assert.deepEqual([await shown(id), sent], [['pending', REASON], 0n])
  await reinstate()
  assert.equal((await endOnChain(account, id, 'confirm')).status, 'completed')
  assert.equal(sandbox.node.balanceOf(WALLET) - before, 49_000_000n)
  await assertBooksSound(db)
})

test('an operator can refuse but not approve a withdrawal of a suspended account', async () => {
  for (const id of await requestedAndSuspended(100, 250)) {
    assert.deepEqual(await shown(id), ['pending', REASON])
    assertRefused(await decide(id, 'approve'), 403, REASON)
    const { body } = await decide(id, 'refuse')
    assert.deepEqual([body['status'], body['status_reason']], ['failed', 'refused'])
  }
  await reinstate()
  assert.equal((await balanceOf(url, person.bearer)).balance_usd, 500)
  await assertBooksSound(db)
})

test('the kill switch keeps requested withdrawals from being signed until it is off', async () => {
  const before = sandbox.node.balanceOf(WALLET)
  const stop = () => setKillSwitch(url, 'withdrawals', true)
  const [id = ''] = await requestedAndThen(stop, 100)
  await runTasks(3)
  assert.deepEqual(await shown(id), ['pending', null])
  assert.equal((await transfersOf(id)).length, 0)
  await setKillSwitch(url, 'withdrawals', false)
  assert.equal((await endOnChain(account, id, 'confirm')).status, 'completed')
  assert.equal(sandbox.node.balanceOf(WALLET) - before, 99_000_000n)
  await assertBooksSound(db)
})

test('a kill switch that is turned on while a run signs stops that withdrawal and the rest', async () => {
  const room = await openMoneyRoom()
  const ids = [(await openWithdrawal(room)).id, (await openWithdrawal(room)).id]
  const signed: string[] = []
  const setSwitch = (is_on: boolean) =>
    room.db.run(`update kill_switches set is_on = $1 where rail = 'withdrawals'`, [is_on])
  const sign = async ({ id }: { id: string }) => {
    signed.push(id)
    if (signed.length === 1) await setSwitch(true)
    return signedOutcome()
  }
  const task = sendWithdrawalsTask(withdrawalDependencies(room, { signer: { sign } }))
  const stored = () => room.db.rows('select from withdrawal_transfers')
  await task.run()
  assert.deepEqual([signed, (await stored()).length], [ids.slice(0, 1), 0])
  await setSwitch(false)
  await task.run()
  assert.equal((await stored()).length, 2)
})

test('a withdrawal to an address that was blocked meanwhile is not signed and returns', async () => {
  const before = sandbox.node.balanceOf(WALLET)
  const [id = ''] = await requestedAndThen(() => blocked.add(WALLET), 100)
  // While a run of the background has the lease, this one does nothing.
  const hasFailed = async () => {
    await runTasks(1)
    return (await shown(id))[0] === 'failed'
  }
  assert.ok(await eventually(hasFailed, { within_ms: 5_000 }))
  assert.deepEqual(await shown(id), ['failed', 'screening'])
  assert.equal((await transfersOf(id)).length, 0)
  assert.equal((await balanceOf(url, person.bearer)).balance_usd, 500)
  assert.equal(sandbox.node.balanceOf(WALLET) - before, 0n)
  await assertBooksSound(db)
})
