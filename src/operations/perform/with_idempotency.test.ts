import assert from 'node:assert/strict'
import { test } from 'node:test'
import { keyOfText } from '#platform/postgres/advisory_key.ts'
import { assertRefused } from '#test/support/calls.ts'
import { eventually } from '#test/support/eventually.ts'
import { send } from '#test/support/http.ts'
import { assertBooksSound, fundTreasury, wealthOf } from '#test/support/money.ts'
import { openAccount } from '#test/support/people.ts'
import { startTestService } from '#test/support/start.ts'
import { balanceOf } from '#test/support/topups.ts'
import { WALLET } from '#test/support/withdrawals.ts'

const { url, owner_db } = await startTestService()

const versionOf = async (key: string) => {
  const [row] = await owner_db.rows<{ xmin: string; replayed_at: Date | null }>(
    'select xmin::text, replayed_at from stored_responses where key = $1',
    [key],
  )
  assert.ok(row, 'the response is stored')
  return row
}

test('every replay writes to the stored response, so its commit waits for the standby', async () => {
  const { bearer } = await openAccount(url)
  const key = 'a-key-that-is-replayed'
  const call = () =>
    send(url, 'POST', '/v1/api_keys', {
      bearer,
      body: { name: 'Robot' },
      key,
    })
  const first = await call()
  assert.equal(first.status, 201, first.text)
  let before = await versionOf(key)
  assert.equal(before.replayed_at, null)
  for (let replay = 0; replay < 2; replay += 1) {
    const repeated = await call()
    assert.equal(repeated.headers.get('idempotent-replayed'), 'true')
    const after = await versionOf(key)
    // PostgreSQL waits for a standby only at the commit of a transaction that wrote something.
    assert.notEqual(after.xmin, before.xmin)
    before = after
  }
})

test('a repeat of a call in progress is refused immediately and has no effect', async () => {
  const isWaiting = async () => {
    const waiting = await owner_db.rows(
      `select 1 from pg_locks where locktype = 'advisory' and not granted`,
    )
    return waiting.length > 0
  }
  // create_api_key is prepared before its transaction, issue_card is not.
  for (const [path, body] of [
    ['/v1/api_keys', {}],
    ['/v1/cards', { type: 'virtual' }],
  ] as const) {
    const { bearer, account_id } = await openAccount(url)
    const call = () => send(url, 'POST', path, { bearer, body, key: 'a-key-in-progress' })
    let first: ReturnType<typeof call> | undefined
    // The first call waits for the account's writes while it holds its key.
    await owner_db.transaction(async (tx) => {
      await tx.rows(`select pg_advisory_xact_lock(${keyOfText(1)})`, [account_id])
      first = call()
      assert.ok(await eventually(isWaiting, { within_ms: 2_000 }))
      assertRefused(await call(), 409, 'idempotency_in_progress')
    })
    assert.equal((await first)?.status, 201)
    const { body: list } = await send(url, 'GET', path, { bearer })
    assert.equal(list.data.length, 1)
  }
})

test('repeats of a finished call at the same time all get its response', async () => {
  const { bearer, account_id } = await openAccount(url)
  await fundTreasury(owner_db, account_id, 500)
  const withdrawal = { address: WALLET, amount_usd: 20 }
  // withdraw is prepared before its transaction, issue_card is not.
  for (const [path, body] of [
    ['/v1/withdrawals', withdrawal],
    ['/v1/cards', { type: 'virtual' }],
  ] as const) {
    const call = () => send(url, 'POST', path, { bearer, body, key: 'a-key-that-is-finished' })
    const first = await call()
    assert.equal(first.status, 201, first.text)
    for (const repeat of await Promise.all(Array.from({ length: 10 }, call))) {
      assert.deepEqual([repeat.status, repeat.body.id], [201, first.body.id], repeat.text)
      assert.equal(repeat.headers.get('idempotent-replayed'), 'true')
    }
    const { body: list } = await send(url, 'GET', path, { bearer })
    assert.equal(list.data.length, 1)
  }
})

test('a refusal that comes after the money has moved moves it back', async () => {
  const { bearer, account_id } = await openAccount(url)
  await fundTreasury(owner_db, account_id, 500)
  const limits = JSON.stringify({ withdrawal_daily_usd: 100 })
  await owner_db.run('update accounts set spend_limits = $2 where id = $1', [account_id, limits])
  const withdraw = () =>
    send(url, 'POST', '/v1/withdrawals', {
      bearer,
      body: { address: WALLET, amount_usd: 150 },
      key: 'a-key-of-a-refusal',
    })
  assertRefused(await withdraw(), 422, 'amount_out_of_range')
  const repeated = await withdraw()
  assert.deepEqual([repeated.status, repeated.body.error], [422, 'amount_out_of_range'])
  const { balance_usd, pending_out_usd } = await balanceOf(url, bearer)
  assert.deepEqual([balance_usd, pending_out_usd], [500, 0])
  assert.equal(await wealthOf(owner_db, account_id), '500')
  await assertBooksSound(owner_db)
})
