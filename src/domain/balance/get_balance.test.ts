import assert from 'node:assert/strict'
import { test } from 'node:test'
import { move } from '#domain/ledger/move.ts'
import type { Move } from '#domain/ledger/post.ts'
import { cardPurse, holdPurse, payout, treasury } from '#domain/ledger/purse.ts'
import { microsFromUsd } from '#kernel/money.ts'
import { send } from '#test/support/http.ts'
import { fundTreasury } from '#test/support/money.ts'
import { openAccount } from '#test/support/people.ts'
import { startTestService } from '#test/support/start.ts'

const service = await startTestService()

const balanceOf = async (bearer: string) =>
  (await send(service.url, 'GET', '/v1/balance', { bearer })).body

async function post(
  account_id: string,
  terms: Pick<Move, 'movement' | 'from' | 'to'>,
  usd: number,
) {
  const { db, newId } = service.runtime
  const reference = { type: 'test', id: 'one' }
  const amount_micros = microsFromUsd(usd)
  await db.transaction((tx) =>
    move(
      tx,
      { ...terms, account_id, amount_micros, reference, description: 'A test.' },
      { now: new Date(), newId },
    ),
  )
}

test('a new account has a balance of zero', async () => {
  const { bearer } = await openAccount(service.url)
  const { updated_at, ...figures } = await balanceOf(bearer)
  assert.deepEqual(figures, {
    asset: 'USDT',
    balance_usd: 0,
    pending_in_usd: 0,
    pending_out_usd: 0,
    cards_usd: 0,
    total_usd: 0,
    owed_usd: 0,
  })
  assert.ok(Date.parse(updated_at) > 0)
})

test('money on cards, held or being withdrawn is separate from the available balance', async () => {
  const { bearer, account_id } = await openAccount(service.url)
  await fundTreasury(service.runtime.db, account_id, 100)
  const card = cardPurse('card_a')
  await post(account_id, { movement: 'card_loaded', from: treasury, to: card }, 30.25)
  await post(account_id, { movement: 'spend_held', from: card, to: holdPurse('card_a') }, 10.05)
  await post(account_id, { movement: 'withdrawal_reserved', from: treasury, to: payout }, 20)
  const { updated_at: _updated_at, ...figures } = await balanceOf(bearer)
  assert.deepEqual(figures, {
    asset: 'USDT',
    balance_usd: 49.75,
    pending_in_usd: 0,
    pending_out_usd: 20,
    cards_usd: 30.25,
    total_usd: 80,
    owed_usd: 0,
  })
})

test("a balance does not include another account's money", async () => {
  const rich = await openAccount(service.url)
  const poor = await openAccount(service.url)
  await fundTreasury(service.runtime.db, rich.account_id, 7)
  const [first, second] = await Promise.all([balanceOf(rich.bearer), balanceOf(poor.bearer)])
  assert.equal(first.balance_usd, 7)
  assert.equal(second.balance_usd, 0)
})
