import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type BareCard, insertBareCard, openIssuer, purchaseMessage } from '#test/support/issuer.ts'
import { assertBooksSound } from '#test/support/money.ts'

const issuer = await openIssuer()
const { db } = issuer

const EUR = '978'
/** 10.00 EUR that the network bills as 10.85 USD. */
const BILLED = { 49: EUR, 6: '000000001085', 10: '61085000', 51: '840' }

type Row = { type: string; usd: number; fx_rate: string | null }

async function rowsOf(card: BareCard): Promise<Row[]> {
  return db.rows<Row>(
    `select type, amount_micros::float8 / 1e6 as usd, fx_rate from transactions
      where card_id = $1 order by id`,
    [card.id],
  )
}

async function moneyOf(card: BareCard): Promise<Record<string, number>> {
  const rows = await db.rows<{ kind: string; usd: number }>(
    'select kind, balance_micros::float8 / 1e6 as usd from purse_balances where owner_id = $1',
    [card.id],
  )
  return Object.fromEntries(rows.map(({ kind, usd }) => [kind, usd]))
}

async function approvedInEuro(card: BareCard): Promise<string> {
  const message = purchaseMessage(card, 1_000, { fields: BILLED })
  assert.equal((await issuer.ask(message)).fields[39], '00')
  return message.fields[37] ?? ''
}

async function emitTransactionEvent(
  card: BareCard,
  cents: number,
  fields: Record<number, string>,
  mti = '0220',
): Promise<void> {
  const answer = await issuer.ask(purchaseMessage(card, cents, { mti, fields }))
  assert.equal(answer.fields[39], '00')
}

async function waiting(card: BareCard): Promise<number> {
  const rows = await db.rows('select id from pending_clearings where card_id = $1', [card.id])
  return rows.length
}

test('a capture without a USD amount uses the rate of its authorization', async () => {
  const card = await insertBareCard(issuer, { usd: 100 })
  const rrn = await approvedInEuro(card)
  await emitTransactionEvent(card, 400, { 37: rrn, 49: EUR })
  await emitTransactionEvent(card, 600, { 37: rrn, 49: EUR, 48: '44011' })
  assert.deepEqual(await rowsOf(card), [
    { type: 'authorization', usd: 10.85, fx_rate: '1.085' },
    { type: 'capture', usd: 4.34, fx_rate: '1.085' },
    { type: 'capture', usd: 6.51, fx_rate: '1.085' },
  ])
  assert.deepEqual(await moneyOf(card), { card: 89.15, hold: 0 })
  await assertBooksSound(db)
})

test('a refund without a USD amount uses the rate of its purchase', async () => {
  const card = await insertBareCard(issuer, { usd: 100 })
  const rrn = await approvedInEuro(card)
  await emitTransactionEvent(card, 1_000, { 37: rrn, ...BILLED })
  await emitTransactionEvent(card, 500, { 3: '200000', 37: rrn, 49: EUR })
  const rows = await rowsOf(card)
  assert.deepEqual(rows.at(-1), { type: 'refund', usd: 5.43, fx_rate: '1.085' })
  assert.deepEqual(await moneyOf(card), { card: 94.58, hold: 0 })
  await assertBooksSound(db)
})

test('a completion without a USD amount changes its hold at the rate of its authorization', async () => {
  const card = await insertBareCard(issuer, { usd: 100 })
  const rrn = await approvedInEuro(card)
  await emitTransactionEvent(card, 2_000, { 37: rrn, 49: EUR }, '0120')
  assert.deepEqual(await moneyOf(card), { card: 78.3, hold: 21.7 })
  await assertBooksSound(db)
})

test('a clearing with neither a USD amount nor a rate awaits conversion and books nothing', async () => {
  for (const [mti, type] of [
    ['0220', '000000'],
    ['0220', '200000'],
    ['0120', '000000'],
  ] as const) {
    const card = await insertBareCard(issuer, { usd: 100 })
    await emitTransactionEvent(card, 1_000, { 3: type, 49: EUR }, mti)
    assert.deepEqual(await rowsOf(card), [])
    assert.equal(await waiting(card), 1)
    assert.deepEqual(await moneyOf(card), { card: 100, hold: 0 })
  }
  await assertBooksSound(db)
})

test('the new amount of a partial reversal is in the currency of the reversal', async () => {
  for (const [currency, minor, held] of [
    [EUR, '400', 4.34],
    ['840', '500', 5],
  ] as const) {
    const card = await insertBareCard(issuer, { usd: 100 })
    const rrn = await approvedInEuro(card)
    const amounts = { 49: currency, 95: minor.padStart(12, '0').padEnd(42, '0') }
    await emitTransactionEvent(card, 1_000, { 37: rrn, ...amounts }, '0420')
    assert.deepEqual(await moneyOf(card), { card: 100 - held, hold: held })
  }
  await assertBooksSound(db)
})

test('a foreign amount of zero needs no rate: nothing awaits conversion', async () => {
  const card = await insertBareCard(issuer, { usd: 100 })
  for (const [mti, type] of [
    ['0100', '000000'],
    ['0120', '000000'],
    ['0220', '000000'],
    ['0220', '200000'],
  ] as const) {
    await emitTransactionEvent(card, 0, { 3: type, 49: EUR }, mti)
  }
  assert.equal(await waiting(card), 0)
  assert.deepEqual(await rowsOf(card), [
    { type: 'capture', usd: 0, fx_rate: null },
    { type: 'refund', usd: 0, fx_rate: null },
  ])
  assert.deepEqual(await moneyOf(card), { card: 100, hold: 0 })
  await assertBooksSound(db)
})

test('the rate of a purchase in another currency is not used', async () => {
  const card = await insertBareCard(issuer, { usd: 100 })
  const rrn = await approvedInEuro(card)
  await emitTransactionEvent(card, 1_000, { 37: rrn, 49: '392' })
  assert.equal(await waiting(card), 1)
  assert.deepEqual(await moneyOf(card), { card: 89.15, hold: 10.85 })
})

test('a repeated clearing awaits conversion once', async () => {
  const card = await insertBareCard(issuer, { usd: 100 })
  const message = purchaseMessage(card, 1_000, { mti: '0220', fields: { 49: EUR } })
  const [first, again] = [await issuer.ask(message), await issuer.ask(message)]
  assert.deepEqual(again.raw, first.raw)
  assert.equal(await waiting(card), 1)
})

test('a request without a USD amount is declined', async () => {
  const card = await insertBareCard(issuer, { usd: 100 })
  const answer = await issuer.ask(purchaseMessage(card, 1_000, { fields: { 49: EUR } }))
  assert.equal(answer.fields[39], '13')
})
