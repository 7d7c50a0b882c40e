import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, beforeEach, test } from 'node:test'
import { assertRefused, auditLog } from '#test/support/calls.ts'
import { send } from '#test/support/http.ts'
import { assertBooksSound, fundTreasury } from '#test/support/money.ts'
import { createKey, openAccount, type Person } from '#test/support/people.ts'
import { codeOf, turnOnTwoFactor, wrongCodeOf } from '#test/support/second_factor.ts'
import { startTestService } from '#test/support/start.ts'
import { awaitedTopup, balanceOf } from '#test/support/topups.ts'
import { askToWithdraw, requested, WALLET } from '#test/support/withdrawals.ts'

const BLOCKED = 'TPjjvMwjPoDC32V2dGDYTkLH4E5LAtBZ6C'
const folder = mkdtempSync(join(tmpdir(), 'florin_lists_'))
after(() => rmSync(folder, { recursive: true }))
const list = join(folder, 'blocked.txt')
writeFileSync(list, `${BLOCKED}\n`)

const service = await startTestService({ env: { FLORIN_SCREENING_FILE: list } })
const { url, sandbox } = service
const { db, clock } = service.runtime

let person: Person
let account: { url: string; bearer: string }
beforeEach(async () => {
  person = await openAccount(url)
  account = { url, bearer: person.bearer }
  await fundTreasury(db, person.account_id, 1_000)
  // Keeps the tasks of this service from sending the withdrawals.
  await db.run(`update withdrawals set next_try_at = 'infinity' where step = 'reserved'`)
})

test('reserves the amount including the fee and writes an audit entry', async () => {
  const withdrawal = await requested(account, 100.123456)
  assert.match(withdrawal.id, /^wd_/)
  const { id: _, created_at, updated_at, ...rest } = withdrawal
  assert.equal(created_at, updated_at)
  assert.deepEqual(rest, {
    asset: 'USDT',
    chain: 'tron',
    address: WALLET,
    amount_usd: 100.123456,
    fee_usd: 1,
    net_usd: 99.123456,
    status: 'pending',
    status_reason: null,
    txid: null,
    confirmations: 0,
    broadcasted_at: null,
    completed_at: null,
    metadata: {},
    version: 1,
  })
  const { balance_usd, pending_out_usd } = await balanceOf(url, person.bearer)
  assert.deepEqual([balance_usd, pending_out_usd], [899.876544, 100.123456])
  const [entry] = await auditLog(url, person.bearer, '&action=withdrawal.requested')
  assert.deepEqual(entry?.resource, { type: 'withdrawal', id: withdrawal.id })
  const limits = await send(url, 'GET', '/v1/system/limits', { bearer: person.bearer })
  assert.equal(limits.body['spend_limits']?.['withdrawal_used_today_usd'], 100.123456, limits.text)
})

test('refuses invalid and out-of-range amounts and moves no money', async () => {
  const cases: [unknown, number, string][] = [
    [-10, 422, 'invalid_amount'],
    [10.0000001, 422, 'invalid_amount'],
    [0, 422, 'amount_out_of_range'],
    [9.999999, 422, 'amount_out_of_range'],
    [25_000.01, 422, 'amount_out_of_range'],
    [1e300, 422, 'amount_out_of_range'],
    ['20', 400, 'invalid_request'],
    [1_000.000001, 409, 'insufficient_balance'],
  ]
  for (const [amount_usd, status, error] of cases) {
    assertRefused(await askToWithdraw(account, { amount_usd }), status, error)
  }
  assert.equal((await balanceOf(url, person.bearer)).balance_usd, 1_000)
})

test('refuses invalid addresses, contracts and our own addresses', async () => {
  const { deposit_address } = await awaitedTopup(url, person.bearer)
  const other = await awaitedTopup(url, (await openAccount(url)).bearer)
  const { chains } = sandbox.settings
  const wrong = [
    `${WALLET.slice(0, -1)}B`,
    WALLET.toLowerCase(),
    `${WALLET} `,
    '0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266',
    '',
  ]
  for (const address of wrong) {
    const reply = await askToWithdraw(account, { amount_usd: 20, address })
    assertRefused(reply, 422, 'invalid_address')
    assert.match(reply.body['message'], /^This is not a valid TRON address\. Check it for typos/)
  }
  const unusable = [
    'T9yD14Nj9j7xAB4dbGeiX9h8unkKHxuWwb',
    'TR7NHqjeKQxGTCi8q8ZY4pL8otSzgjLj6t',
    chains[0]?.hot_wallet,
    deposit_address,
    other.deposit_address,
  ]
  for (const address of unusable) {
    const reply = await askToWithdraw(account, { amount_usd: 20, address })
    assertRefused(reply, 422, 'invalid_address')
    assert.match(reply.body['message'], /^This address can't receive withdrawals/)
  }
  const asset = { amount_usd: 20, asset: 'DOGE' }
  assertRefused(await askToWithdraw(account, asset), 422, 'unsupported_asset')
  const chain = { amount_usd: 20, chain: 'solana' }
  assertRefused(await askToWithdraw(account, chain), 422, 'unsupported_chain')
})

test('refuses a blocked address with an audit entry, by the list as it is now', async () => {
  const ask = () => askToWithdraw(account, { amount_usd: 20, address: BLOCKED })
  const refused = await ask()
  assertRefused(refused, 422, 'address_blocked')
  assert.equal(refused.body['details'][0].field, 'address')
  const [entry] = await auditLog(url, person.bearer, '&action=withdrawal.requested')
  assert.equal(entry?.result, 'denied')
  writeFileSync(list, '')
  assert.equal((await ask()).status, 201)
  writeFileSync(list, `${BLOCKED}\n`)
  assertRefused(await ask(), 422, 'address_blocked')
})

test('of 20 concurrent withdrawals of the whole balance exactly one succeeds', async () => {
  const replies = await Promise.all(
    Array.from({ length: 20 }, () => askToWithdraw(account, { amount_usd: 1_000 })),
  )
  const statuses = replies.map(({ status }) => status)
  assert.equal(statuses.filter((status) => status === 201).length, 1)
  assert.equal(statuses.filter((status) => status === 409).length, 19)
  for (const reply of replies.filter(({ status }) => status === 409)) {
    assertRefused(reply, 409, 'insufficient_balance')
  }
  const { balance_usd, pending_out_usd } = await balanceOf(url, person.bearer)
  assert.deepEqual([balance_usd, pending_out_usd], [0, 1_000])
  await assertBooksSound(db)
})

test('concurrent withdrawals cannot exceed the daily limit', async () => {
  await db.run(`update accounts set spend_limits = '{"withdrawal_daily_usd": 300}' where id = $1`, [
    person.account_id,
  ])
  const replies = await Promise.all(
    Array.from({ length: 5 }, () => askToWithdraw(account, { amount_usd: 100 })),
  )
  assert.equal(replies.filter(({ status }) => status === 201).length, 3)
  for (const reply of replies.filter(({ status }) => status !== 201)) {
    assertRefused(reply, 422, 'amount_out_of_range')
  }
})

test('a retry with the same Idempotency-Key makes no second withdrawal', async () => {
  const ask = () =>
    send(url, 'POST', '/v1/withdrawals', {
      bearer: person.bearer,
      key: 'pay-1',
      body: { amount_usd: 20, address: WALLET },
    })
  const [first, again] = [await ask(), await ask()]
  assert.equal(again.text, first.text)
  assert.equal(again.headers.get('idempotent-replayed'), 'true')
  assert.equal((await balanceOf(url, person.bearer)).balance_usd, 980)
})

test('with two-factor on, a session needs an unused code and an API key needs none', async () => {
  const { key } = await createKey(url, person.bearer)
  const { secret } = await turnOnTwoFactor(url, person.bearer, clock)
  const ask = (totp_code?: string) =>
    askToWithdraw(account, { amount_usd: 20, ...(totp_code === undefined ? {} : { totp_code }) })
  assertRefused(await ask(), 401, 'totp_required')
  assertRefused(await ask(wrongCodeOf(secret, clock)), 401, 'totp_invalid')
  const code = codeOf(secret, clock, 1)
  assert.equal((await ask(code)).status, 201)
  assertRefused(await ask(code), 401, 'totp_invalid')
  assert.equal((await askToWithdraw({ url, bearer: key }, { amount_usd: 20 })).status, 201)
  assert.equal((await balanceOf(url, person.bearer)).balance_usd, 960)
})

test('a code works once, and only wrong ones count, even if the call is refused otherwise', async () => {
  const { secret, recovery_codes } = await turnOnTwoFactor(url, person.bearer, clock)
  const ask = (totp_code?: string) => askToWithdraw(account, { amount_usd: 2_000, totp_code })
  for (const code of [codeOf(secret, clock, 1), ...recovery_codes]) {
    assertRefused(await ask(code), 409, 'insufficient_balance')
    assertRefused(await ask(code), 401, 'totp_invalid')
  }
})

test('calls at the same time under one Idempotency-Key use the code once', async () => {
  const { secret } = await turnOnTwoFactor(url, person.bearer, clock)
  const body = { amount_usd: 20, address: WALLET, totp_code: codeOf(secret, clock, 1) }
  const ask = () =>
    send(url, 'POST', '/v1/withdrawals', { bearer: person.bearer, body, key: 'pay-2' })
  const replies = await Promise.all(Array.from({ length: 10 }, ask))
  for (const reply of replies.filter(({ status }) => status !== 201)) {
    assertRefused(reply, 409, 'idempotency_in_progress')
  }
  const { status, headers } = await ask()
  assert.deepEqual([status, headers.get('idempotent-replayed')], [201, 'true'])
  assert.equal((await balanceOf(url, person.bearer)).balance_usd, 980)
})

test('refuses while the kill switch of withdrawals is on', async () => {
  await db.run(`update kill_switches set is_on = true where rail = 'withdrawals'`)
  try {
    assertRefused(await askToWithdraw(account, { amount_usd: 20 }), 503, 'kill_switch_active')
  } finally {
    await db.run(`update kill_switches set is_on = false where rail = 'withdrawals'`)
  }
})
