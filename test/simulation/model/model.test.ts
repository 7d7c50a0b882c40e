import assert from 'node:assert/strict'
import { test } from 'node:test'
import { DAY_MS, USD } from './amounts.ts'
import type { CardAdvice, CardRequest, CardReversal, Command, Limits } from './commands.ts'
import { Mismatch, Model } from './model.ts'

const NOON = Date.UTC(2031, 2, 4, 12)
const account = 'ann'
const card = 'red'

/** A model with one account, 100 dollars on its card and 50 in its treasury. */
function openModel(limits: Partial<Limits> = {}): Model {
  const model = new Model({ now: NOON })
  const fund = { account, topup: 'first', transfer: 'a' }
  for (const command of [
    { op: 'create_account', account },
    { op: 'create_topup', account, topup: 'first', amount: 150n * USD },
    { op: 'see_transfer', ...fund, amount: 150n * USD },
    { op: 'settle_transfer', ...fund },
    { op: 'issue_card', account, card, load: 100n * USD, limits },
  ] as const) {
    assert.equal(model.apply(command)[0]?.result, 'ok')
  }
  return model
}

const dollars = (usd: bigint) => ({ minor: usd * 100n, currency: 'USD', micros: usd * USD })
const shop = { name: 'Shop', id: 'shop', mcc: '5732', country: 'US' }

const ask = (message: string, usd: bigint, fields: Partial<CardRequest> = {}): CardRequest =>
  ({
    ...{ op: 'authorize', account, card, message, rrn: message, charge: dollars(usd) },
    ...{ merchant: shop, entry_mode: 'chip', ...fields },
  }) as CardRequest

const advise = (
  op: CardAdvice['op'],
  { rrn, usd, ...fields }: { rrn: string; usd: bigint } & Partial<CardAdvice>,
): CardAdvice =>
  ({
    ...{ op, account, card, message: `${op} ${rrn} ${usd}`, rrn, charge: dollars(usd) },
    ...fields,
  }) as CardAdvice

const reverse = (original: string, replacement: bigint | null = null): CardReversal => ({
  ...{ op: 'reverse', account, card, message: `reverse ${original} ${replacement}` },
  ...{ rrn: null, original, replacement },
})

function moneyOf(model: Model) {
  const { balance, owed, cards } = model.view(account)
  const { balance: on_card = 0n, held = 0n, spent_daily = 0n } = cards[card] ?? {}
  return [balance, owed, on_card, held, spent_daily].map((micros) => Number(micros / USD))
}

test('a hold is captured, the rest of it is reversed, and a refund returns to the card', () => {
  const model = openModel()
  model.confirm(ask('buy', 30n), { result: 'approved', amount: 30n * USD })
  assert.deepEqual(moneyOf(model), [50, 0, 70, 30, 30])
  model.confirm(advise('capture', { rrn: 'buy', usd: 20n }), { result: 'accepted' })
  assert.deepEqual(moneyOf(model), [50, 0, 70, 10, 30])
  model.apply(reverse('buy'))
  assert.deepEqual(moneyOf(model), [50, 0, 80, 0, 20])
  model.apply(advise('refund', { rrn: 'buy', usd: 20n }))
  assert.deepEqual(moneyOf(model), [50, 0, 100, 0, 20], 'refunds do not lower the usage')
  assert.deepEqual(model.apply(reverse('buy', 0n)), [{ result: 'no_action' }])
})

test('a capture above the hold takes the card, then the treasury, then a debt', () => {
  const model = openModel()
  model.apply(ask('buy', 30n))
  model.apply(advise('capture', { rrn: 'buy', usd: 180n }))
  assert.deepEqual(moneyOf(model), [0, 30, 0, 0, 180])
  model.confirm(ask('next', 1n), { code: 'insufficient_funds' })
  model.apply(advise('refund', { rrn: 'buy', usd: 40n }))
  assert.deepEqual(moneyOf(model), [0, 0, 10, 0, 180], 'the refund pays the debt first')
})

test('a decline names the first failure and lists all in the order of the contract', () => {
  const model = openModel({ per_transaction: 10n * USD, daily: 5n * USD })
  model.apply({ op: 'freeze_card', account, card })
  model.apply({ op: 'set_card_geo', account, card, rules: { allow: ['DE'] } })
  const failed_rules = ['card_frozen', 'cvv_mismatch', 'country_blocked']
  const limits = ['limit_per_transaction', 'limit_daily', 'insufficient_funds']
  model.confirm(ask('buy', 200n, { code: 'wrong' }), {
    ...{ result: 'declined', code: 'card_frozen', failed_rules: [...failed_rules, ...limits] },
  })
})

test('a repeat gets the first response, and a message whose reversal came first is declined', () => {
  const model = openModel()
  model.apply(ask('buy', 30n))
  model.confirm(ask('buy', 30n), { result: 'approved' })
  model.confirm(ask('buy', 31n), { code: 'duplicate_conflict' })
  assert.deepEqual(moneyOf(model), [50, 0, 70, 30, 30])
  model.confirm(reverse('late'), { result: 'original_unknown' })
  model.confirm(ask('late', 10n), { code: 'reversed_before_auth' })
})

test('limits count by UTC day and month, and a reversal gives back on the day it was counted', () => {
  const model = openModel({ daily: 40n * USD, monthly: 60n * USD })
  model.setTime(Date.UTC(2032, 1, 28, 23, 59))
  model.apply(ask('feb 28', 40n))
  model.confirm(ask('too much', 1n), { code: 'limit_daily' })
  model.setTime(Date.UTC(2032, 1, 29))
  model.confirm(ask('increment', 21n, { op: 'increment', original: 'feb 28' }), {
    code: 'limit_monthly',
  })
  model.confirm(ask('leap day', 20n, { op: 'increment', original: 'feb 28' }), {
    result: 'approved',
  })
  model.apply(reverse('feb 28', 50_00n))
  assert.deepEqual(moneyOf(model), [50, 0, 50, 50, 10], 'the latest part is given back first')
  model.setTime(Date.UTC(2032, 2, 1))
  assert.deepEqual(moneyOf(model), [50, 0, 50, 50, 0])
  assert.deepEqual(model.dueAuthorizations(account), [])
  model.setTime(Date.UTC(2032, 2, 7))
  assert.deepEqual(model.dueAuthorizations(account), ['feb 28'])
})

test('money back for a capture never exceeds it: a refund takes back the dispute credit', () => {
  const model = openModel()
  model.apply(ask('buy', 40n))
  model.apply(advise('capture', { rrn: 'buy', usd: 40n, message: 'taken' }))
  model.confirm(
    { op: 'file_dispute', account, dispute: 'd', capture: 'taken' },
    { amount: 40n * USD },
  )
  assert.deepEqual(moneyOf(model), [90, 0, 60, 0, 40])
  model.apply(advise('refund', { rrn: 'buy', usd: 15n }))
  assert.deepEqual(moneyOf(model), [75, 0, 75, 0, 40])
  model.apply(advise('refund', { rrn: 'buy', usd: 25n }))
  const { d } = model.view(account).disputes
  assert.deepEqual(d, {
    ...{ amount: 40n * USD, credit: 0n, status: 'closed', outcome: 'won', closed_by: 'refund' },
  })
  assert.deepEqual(moneyOf(model), [50, 0, 100, 0, 40])
})

test('a cancelled card returns its balance, and later releases go to the treasury', () => {
  const model = openModel()
  model.apply(ask('buy', 30n))
  model.apply({ op: 'cancel_card', account, card })
  assert.deepEqual(moneyOf(model), [120, 0, 0, 30, 30])
  model.confirm(ask('next', 1n), { code: 'card_cancelled' })
  model.setTime(NOON + 7 * DAY_MS)
  for (const message of model.dueAuthorizations(account)) {
    model.apply({ op: 'expire_authorization', account, message, is_early: false })
  }
  assert.deepEqual(moneyOf(model), [150, 0, 0, 0, 0])
})

test('a replacement keeps balance and usage; the hold stays with the old card', () => {
  const model = openModel({ daily: 50n * USD })
  model.apply(ask('buy', 30n))
  model.apply({ op: 'replace_card', account, card, replacement: 'blue' })
  model.confirm(ask('more', 30n, { card: 'blue' }), { code: 'limit_daily' })
  model.apply(reverse('buy'))
  model.confirm(ask('again', 30n, { card: 'blue' }), { result: 'approved' })
  assert.equal(model.view(account).balance, 80n * USD)
})

test('after a lost response both states are possible until a response or a read decides', () => {
  const load: Command = { op: 'load_card', account, card, amount: 50n * USD }
  const model = openModel()
  model.applyUnknown(load)
  assert.equal(model.possible(account).length, 2)
  assert.deepEqual(model.apply(load), [
    { result: 'ok', amount: 50n * USD },
    { result: 'refused', code: 'insufficient_balance' },
  ])
  assert.equal(model.possible(account).length, 2)

  const decided = openModel()
  decided.applyUnknown(load)
  decided.observe(account, { balance: 50n * USD, cards: { [card]: { held: 0n } } })
  assert.deepEqual(moneyOf(decided), [50, 0, 100, 0, 0])
  assert.throws(() => decided.observe(account, { balance: 0n }), Mismatch)
  assert.throws(() => decided.confirm(load, { result: 'refused' }), Mismatch)
})

test('a call with the Idempotency-Key of an earlier one gets its response', () => {
  const model = openModel()
  const load = { op: 'load_card', account, card, idempotency_key: 'k' } as const
  model.applyUnknown({ ...load, amount: 50n * USD })
  model.confirm({ ...load, amount: 50n * USD }, { result: 'ok' })
  assert.deepEqual(moneyOf(model), [0, 0, 150, 0, 0])
  model.confirm({ ...load, amount: 10n * USD }, { code: 'idempotency_key_reused' })
})

test('of calls that ran together, any order that explains the responses is possible', () => {
  const model = openModel()
  const half = { account, card, amount: 30n * USD }
  model.confirmTogether([
    [
      { op: 'load_card', ...half },
      { result: 'refused', code: 'insufficient_balance' },
    ],
    [{ op: 'withdraw', account, withdrawal: 'w', amount: 40n * USD }, { result: 'ok' }],
    [{ op: 'unload_card', ...half }, null],
  ])
  assert.equal(model.possible(account).length, 2)
  model.observe(account, { balance: 10n * USD })
  assert.throws(
    () => model.confirmTogether([[{ op: 'load_card', ...half }, { result: 'ok' }]]),
    Mismatch,
  )
})

test('a withdrawal takes its amount when it is created and returns all of it when it fails', () => {
  const model = openModel()
  const withdraw = (usd: bigint) =>
    model.apply({ op: 'withdraw', account, withdrawal: 'w', amount: usd * USD })[0]
  assert.deepEqual(withdraw(9n), { result: 'refused', code: 'amount_out_of_range' })
  assert.deepEqual(withdraw(51n), { result: 'refused', code: 'insufficient_balance' })
  assert.equal(withdraw(50n)?.result, 'ok')
  assert.equal(model.view(account).pending_out, 50n * USD)
  model.apply({ op: 'broadcast_withdrawal', account, withdrawal: 'w' })
  model.apply({ op: 'fail_withdrawal', account, withdrawal: 'w' })
  assert.equal(model.view(account).balance, 50n * USD)
})

test('small transfers wait in suspense until their sum reaches the minimum', () => {
  const model = openModel()
  const topup = { account, topup: 'small' }
  model.apply({ op: 'create_topup', ...topup, amount: 5n * USD })
  for (const transfer of ['x', 'y']) {
    model.apply({ op: 'see_transfer', ...topup, transfer, amount: USD / 2n })
    assert.equal(model.view(account).topups['small']?.status, 'confirming')
    model.apply({ op: 'settle_transfer', ...topup, transfer })
  }
  const { small } = model.view(account).topups
  assert.deepEqual(
    [small?.status, small?.payment_state, small?.credited],
    ['completed', 'partial', USD],
  )
  assert.equal(model.view(account).balance, 51n * USD)
})

test('a transfer after the window is late and still credited', () => {
  const model = openModel()
  const topup = { account, topup: 'late' }
  model.apply({ op: 'create_topup', ...topup, amount: 5n * USD })
  model.apply({ op: 'cancel_topup', ...topup })
  model.confirm({ op: 'cancel_topup', ...topup }, { code: 'topup_not_cancellable' })
  model.apply({ op: 'see_transfer', ...topup, transfer: 'z', amount: 7n * USD })
  model.apply({ op: 'settle_transfer', ...topup, transfer: 'z' })
  const { late } = model.view(account).topups
  assert.deepEqual([late?.status, late?.payment_state], ['completed', 'late'])
})
