import assert from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { beforeEach, test } from 'node:test'
import type { ActivityEvent } from '#contract/activity.ts'
import type { Topup } from '#contract/topups.ts'
import { advance, assertRefused, auditLog } from '#test/support/calls.ts'
import { send } from '#test/support/http.ts'
import { assertBooksSound } from '#test/support/money.ts'
import { openAccount, type Person } from '#test/support/people.ts'
import { startTestService } from '#test/support/start.ts'
import { awaitedTopup, balanceOf, eventTypes, onChain, topupOf } from '#test/support/topups.ts'

const BLOCKED_SENDER = 'TPjjvMwjPoDC32V2dGDYTkLH4E5LAtBZ6C'
const service = await startTestService({ env: { FLORIN_SCREENING_FILE: screeningFile() } })
const { url, sandbox } = service
const { db, clock } = service.runtime

let person: Person
beforeEach(async () => {
  person = await openAccount(url)
})

function screeningFile(): string {
  const path = join(process.env['TMPDIR'] ?? '/tmp', `screening_${process.pid}.txt`)
  writeFileSync(path, `# a list\n${BLOCKED_SENDER}   # a comment\n`)
  return path
}

const awaited = (amount_usd = 25) => awaitedTopup(url, person.bearer, amount_usd)
const at = (id: string) => ({ url, bearer: person.bearer, id })
const events = () => eventTypes(db, person.account_id)
const balance = async () => (await balanceOf(url, person.bearer)).balance_usd

/** The fields of a top-up that its state table covers. */
function stateOf(topup: Topup): unknown[] {
  const { status, status_reason, received_usd, credited_usd, payment_state } = topup
  return [status, status_reason, received_usd, credited_usd, payment_state]
}

async function withKillSwitch<Value>(work: () => Promise<Value>): Promise<Value> {
  await db.run(`update kill_switches set is_on = true where rail = 'topups'`)
  try {
    return await work()
  } finally {
    await db.run(`update kill_switches set is_on = false where rail = 'topups'`)
  }
}

test('awaiting → confirming when seen; → completed, credited and notified when final', async () => {
  const { id } = await awaited()
  const seen = await onChain(at(id), 'deposit', { amount_usd: 25 })
  assert.deepEqual(stateOf(seen), ['confirming', null, 25, 0, 'exact'])
  assert(seen.confirmations >= 1 && seen.confirmations < 19)
  assert.equal(seen.qr_data_uri, null)
  assert.equal(await balance(), 0)
  assert.equal((await balanceOf(url, person.bearer)).pending_in_usd, 25)
  const done = await onChain(at(id), 'confirm')
  assert.deepEqual(stateOf(done), ['completed', null, 25, 25, 'exact'])
  assert(done.confirmations >= 19)
  assert.equal(done.txid, seen.txid)
  assert.notEqual(done.completed_at, null)
  assert.equal(await balance(), 25)
  assert.deepEqual(await events(), ['topup.created', 'topup.confirmed'])
  await assertBooksSound(db)
})

test('topup.confirmed counts the confirmations that made the transfer final', async () => {
  const { id } = await awaited()
  await onChain(at(id), 'deposit', { amount_usd: 25 })
  await onChain(at(id), 'confirm')
  const [event] = await db.rows<{ body: string }>(
    `select body from events where account_id = $1 and type = 'topup.confirmed'`,
    [person.account_id],
  )
  const { object } = JSON.parse(event?.body ?? '').data as { object: Topup }
  assert(object.confirmations >= object.required_confirmations, `${object.confirmations}`)
})

test('credits the received amount, whether below or above the expected one', async () => {
  for (const [amount_usd, payment_state] of [
    [10.5, 'partial'],
    [40.000001, 'over'],
  ] as const) {
    const { id } = await awaited()
    await onChain(at(id), 'deposit', { amount_usd })
    const done = await onChain(at(id), 'confirm')
    assert.deepEqual(stateOf(done), ['completed', null, amount_usd, amount_usd, payment_state])
  }
  assert.equal(await balance(), 50.500001)
})

test('a second transfer is credited and emits its own event', async () => {
  const { id } = await awaited()
  await onChain(at(id), 'deposit', { amount_usd: 10 })
  await onChain(at(id), 'confirm')
  const again = await onChain(at(id), 'deposit', { amount_usd: 15 })
  assert.deepEqual(stateOf(again), ['confirming', null, 25, 10, 'exact'])
  const done = await onChain(at(id), 'confirm')
  assert.deepEqual(stateOf(done), ['completed', null, 25, 25, 'exact'])
  assert.equal(done.txids.length, 2)
  assert.deepEqual(await events(), ['topup.created', 'topup.confirmed', 'topup.confirmed'])
})

test('two transfers that become final together are credited separately', async () => {
  const { id } = await awaited()
  await onChain(at(id), 'deposit', { amount_usd: 10 })
  await onChain(at(id), 'deposit', { amount_usd: 10 })
  assert.equal((await onChain(at(id), 'confirm')).credited_usd, 20)
  assert.deepEqual(await events(), ['topup.created', 'topup.confirmed', 'topup.confirmed'])
})

test('an expired top-up is cancelled; a late transfer is still credited', async () => {
  const { id } = await awaited()
  const expired = await onChain(at(id), 'expire')
  assert.deepEqual(stateOf(expired), ['cancelled', 'expired', 0, 0, 'none'])
  const seen = await onChain(at(id), 'deposit', { amount_usd: 25 })
  assert.deepEqual(stateOf(seen), ['confirming', null, 25, 0, 'late'])
  const done = await onChain(at(id), 'confirm')
  assert.deepEqual(stateOf(done), ['completed', null, 25, 25, 'late'])
  assert.deepEqual(await events(), ['topup.created', 'topup.expired', 'topup.confirmed'])
})

test('the window closes by the clock, only for top-ups without a transfer', async () => {
  const [idle, paid] = [await awaited(), await awaited()]
  await onChain(at(paid.id), 'deposit', { amount_usd: 25 })
  await advance(url, person.bearer, 60 * 60)
  const topups = await Promise.all([idle, paid].map(({ id }) => topupOf(url, person.bearer, id)))
  assert.deepEqual(
    topups.map(({ status, payment_state }) => [status, payment_state]),
    [
      ['cancelled', 'none'],
      ['completed', 'exact'],
    ],
  )
})

test('a window has closed when the clock was advanced past it, even without a new block', async () => {
  for (let top_up = 0; top_up < 3; top_up += 1) {
    const { id, expires_at } = await awaited()
    const left_ms = Date.parse(expires_at) - clock.now().getTime()
    await advance(url, person.bearer, left_ms / 1_000 - 0.5)
    await advance(url, person.bearer, 0.5)
    assert.equal((await topupOf(url, person.bearer, id)).status_reason, 'expired')
  }
})

test('can be cancelled only while awaiting; a later transfer is late and credited', async () => {
  const { id } = await awaited()
  const cancel = () =>
    send(url, 'POST', `/v1/topups/${id}/cancel`, { bearer: person.bearer, body: {} })
  const { status, body } = await cancel()
  assert.equal(status, 200)
  assert.deepEqual([body['status'], body['status_reason']], ['cancelled', 'cancelled_by_user'])
  assertRefused(await cancel(), 409, 'topup_not_cancellable')
  await onChain(at(id), 'deposit', { amount_usd: 25 })
  assertRefused(await cancel(), 409, 'topup_not_cancellable')
  const done = await onChain(at(id), 'confirm')
  assert.deepEqual(stateOf(done), ['completed', null, 25, 25, 'late'])
})

test('below the minimum → error, in suspense; a later transfer above it releases both', async () => {
  const { id } = await awaited()
  await onChain(at(id), 'deposit', { amount_usd: 0.4 })
  const small = await onChain(at(id), 'confirm')
  assert.deepEqual(stateOf(small), ['error', 'below_minimum', 0.4, 0, 'partial'])
  assert.equal(await balance(), 0)
  await onChain(at(id), 'deposit', { amount_usd: 0.6 })
  const done = await onChain(at(id), 'confirm')
  assert.deepEqual(stateOf(done), ['completed', null, 1, 1, 'partial'])
  assert.equal(await balance(), 1)
  assert.deepEqual(await events(), ['topup.created', 'topup.error', 'topup.confirmed'])
  await assertBooksSound(db)
})

test('the event of a deposit that releases others has the whole amount credited', async () => {
  const { id } = await awaited()
  await onChain(at(id), 'deposit', { amount_usd: 0.25 })
  await onChain(at(id), 'confirm')
  await onChain(at(id), 'deposit', { amount_usd: 0.5 })
  await onChain(at(id), 'deposit', { amount_usd: 3 })
  await onChain(at(id), 'deposit', { amount_usd: 2 })
  await onChain(at(id), 'confirm')
  const reply = await send(url, 'GET', '/v1/activity?event=topup.confirmed&order=asc', {
    bearer: person.bearer,
  })
  const shown = (reply.body['data'] as ActivityEvent[]).map((row) => [row.amount_usd, row.message])
  assert.deepEqual(shown, [
    [3.75, '$3.75 deposit credited.'],
    [2, '$2.00 deposit credited.'],
  ])
  assert.equal(await balance(), 5.75)
  await assertBooksSound(db)
})

test('a blocked sender → error, in suspense, with an audit entry', async () => {
  const { id } = await awaited()
  await onChain(at(id), 'deposit', { amount_usd: 25, from: BLOCKED_SENDER })
  const held = await onChain(at(id), 'confirm')
  assert.deepEqual(stateOf(held), ['error', 'screening', 25, 0, 'exact'])
  assert.equal(await balance(), 0)
  const entries = await auditLog(url, person.bearer, '&action=topup.suspended')
  assert.deepEqual(
    entries.map(({ result, actor }) => [result, actor.type]),
    [['denied', 'system']],
  )
  assert.deepEqual(await events(), ['topup.created', 'topup.error'])
  await assertBooksSound(db)
})

test('with the kill switch on, a transfer that becomes final is held', async () => {
  const { id } = await awaited()
  await onChain(at(id), 'deposit', { amount_usd: 25 })
  const held = await withKillSwitch(() => onChain(at(id), 'confirm'))
  assert.deepEqual(stateOf(held), ['error', 'kill_switch', 25, 0, 'exact'])
  await onChain(at(id), 'deposit', { amount_usd: 5 })
  assert.equal((await onChain(at(id), 'confirm')).credited_usd, 5)
  await assertBooksSound(db)
})

test('a transfer lost in a reorg → awaiting again, until the next transfer', async () => {
  const { id } = await awaited()
  await onChain(at(id), 'deposit', { amount_usd: 25 })
  const gone = await onChain(at(id), 'reorg')
  assert.deepEqual(stateOf(gone), ['awaiting', 'reorg', 0, 0, 'none'])
  assert.deepEqual([gone.txid, gone.txids, gone.confirmations], [null, [], 0])
  assert.match(gone.qr_data_uri ?? '', /^data:image\/png/)
  const again = await onChain(at(id), 'deposit', { amount_usd: 20 })
  assert.deepEqual(stateOf(again), ['confirming', null, 20, 0, 'partial'])
  assert.equal((await onChain(at(id), 'confirm')).credited_usd, 20)
})

test('a late transfer lost in a reorg leaves the top-up cancelled', async () => {
  const { id } = await awaited()
  await onChain(at(id), 'expire')
  await onChain(at(id), 'deposit', { amount_usd: 25 })
  const gone = await onChain(at(id), 'reorg')
  assert.deepEqual(stateOf(gone), ['cancelled', 'expired', 0, 0, 'none'])
})

test('credits no fake asset, no zero amount, no native coin and no failed transfer', async () => {
  const { id, deposit_address: to } = await awaited()
  const { FAKE_USDT_ADDRESS } = await import('#sandbox/tron_node.ts')
  const { node } = sandbox
  node.transferUsdt({ to, amount_micros: 25_000_000n, contract: FAKE_USDT_ADDRESS })
  node.transferUsdt({ to, amount_micros: 0n })
  node.fundTrx({ to, amount_sun: 25_000_000n })
  node.mine()
  node.fault({ kind: 'reverted_transfer', to })
  node.transferUsdt({ to, amount_micros: 25_000_000n })
  node.mine(20)
  await service.tasks.run(['watch_deposits', 'audit_deposits'])
  const topup = await topupOf(url, person.bearer, id)
  assert.deepEqual(stateOf(topup), ['awaiting', null, 0, 0, 'none'])
})

test('a failed transfer is not credited by Transfer logs of other transactions in its block', async () => {
  const { id, deposit_address: to } = await awaited()
  const other = await awaited()
  const { FAKE_USDT_ADDRESS } = await import('#sandbox/tron_node.ts')
  const { node } = sandbox
  node.fault({ kind: 'reverted_transfer', to })
  const sent = [
    node.transferUsdt({ to, amount_micros: 25_000_000n }),
    node.transferUsdt({ to: other.deposit_address, amount_micros: 25_000_000n }),
    node.transferUsdt({ to, amount_micros: 25_000_000n, contract: FAKE_USDT_ADDRESS }),
  ]
  node.mine(20)
  assert.deepEqual(
    sent.map((txid) => node.blockOf(txid)?.ok),
    [false, true, true],
  )
  await service.tasks.run(['watch_deposits', 'audit_deposits'])
  const [failed, paid] = [
    await topupOf(url, person.bearer, id),
    await topupOf(url, person.bearer, other.id),
  ]
  assert.deepEqual(stateOf(failed), ['awaiting', null, 0, 0, 'none'])
  assert.deepEqual(stateOf(paid), ['completed', null, 25, 25, 'exact'])
  assert.equal(await balance(), 25)
})

test('a cancel that races a deposit: the money is credited once either way', async () => {
  for (let round = 0; round < 6; round += 1) {
    const { id } = await awaited(10)
    const [cancelled] = await Promise.all([
      send(url, 'POST', `/v1/topups/${id}/cancel`, { bearer: person.bearer, body: {} }),
      onChain(at(id), 'deposit', { amount_usd: 10 }),
    ])
    assert([200, 409].includes(cancelled.status), cancelled.text)
    assert.equal((await onChain(at(id), 'confirm')).credited_usd, 10)
  }
  assert.equal(await balance(), 60)
  await assertBooksSound(db)
})
