import assert from 'node:assert/strict'
import { test } from 'node:test'
import { default_link } from '#iso8583/links.ts'
import { decode, encode } from '#iso8583/message.ts'
import { type BareCard, insertBareCard, openIssuer, purchaseMessage } from '#test/support/issuer.ts'
import { assertBooksSound } from '#test/support/money.ts'

const issuer = await openIssuer()
const { db } = issuer

async function moneyOf({ id }: BareCard): Promise<{ cents: number; held: number } | undefined> {
  const [row] = await db.rows<{ cents: number; held: number }>(
    `select (balance_micros / 10000)::int as cents, (held_micros / 10000)::int as held
       from purses where owner_id = $1 and kind = 'card'`,
    [id],
  )
  return row
}

for (const [type, name] of [
  ['200000', 'credit'],
  ['300000', 'balance inquiry'],
] as const) {
  test(`a stand-in advice about a ${name} moves nothing`, async () => {
    const card = await insertBareCard(issuer, { usd: 100 })
    const advice = purchaseMessage(card, 1_000, { mti: '0120', fields: { 3: type } })
    assert.equal((await issuer.ask(advice)).fields[39], '00')
    assert.deepEqual(await moneyOf(card), { cents: 10_000, held: 0 })
    const rows = await db.rows('select 1 from transactions where card_id = $1', [card.id])
    assert.equal(rows.length, 0)
    await assertBooksSound(db)
  })
}

test('a refund in a single message is credited now, and its reversal takes it back', async () => {
  const card = await insertBareCard(issuer, { usd: 100 })
  const refund = purchaseMessage(card, 1_000, { mti: '0200', fields: { 3: '200000' } })
  assert.equal((await issuer.ask(refund)).fields[39], '00')
  assert.deepEqual(await moneyOf(card), { cents: 11_000, held: 0 })
  const { 7: sent, 11: stan } = refund.fields
  const named = `0200${stan}${sent}00000400001${'0'.repeat(11)}`
  const reversal = purchaseMessage(card, 1_000, { mti: '0400', fields: { 90: named } })
  assert.equal((await issuer.ask(reversal)).fields[39], '00')
  assert.deepEqual(await moneyOf(card), { cents: 10_000, held: 0 })
  await assertBooksSound(db)
})

const NO_DETAILS = { 18: undefined, 19: undefined, 22: undefined, 25: undefined }
const NO_MERCHANT = { ...NO_DETAILS, 41: undefined, 42: undefined, 43: undefined }

test('a message of a purchase without its merchant has the merchant of the purchase', async () => {
  const card = await insertBareCard(issuer, { usd: 100 })
  const cafe = { 18: '5812', 22: '051', 43: 'Corner Cafe              Berlin       DE' }
  const purchase = purchaseMessage(card, 1_000, { fields: cafe })
  const debit = purchaseMessage(card, 500, { mti: '0200', fields: cafe })
  for (const message of [purchase, debit]) await issuer.ask(message)
  const { 37: number } = purchase.fields
  const { 7: sent, 11: stan } = debit.fields
  for (const [mti, fields] of [
    ['0220', { 37: number }],
    ['0220', { 37: number, 3: '200000' }],
    ['0420', { 90: `0200${stan}${sent}${'0'.repeat(22)}` }],
  ] as const) {
    const message = purchaseMessage(card, 500, { mti, fields: { ...NO_MERCHANT, ...fields } })
    assert.equal((await issuer.ask(message)).fields[39], '00')
  }
  const rows = await db.rows<{ type: string; details: string }>(
    `select type, concat_ws('|', merchant_name, merchant_city, merchant_country, mcc, merchant_id,
                            terminal_id, entry_mode, card_present) as details
       from transactions where card_id = $1`,
    [card.id],
  )
  const types = rows.map(({ type }) => type).toSorted()
  const wanted = ['authorization', 'authorization', 'capture', 'capture', 'refund', 'refund']
  assert.deepEqual(types, wanted)
  const details = 'Corner Cafe|Berlin|DE|5812|MERCHANT0000001|TERMINAL|chip|t'
  for (const row of rows) assert.equal(row.details, details, row.type)
})

test('a refund in a single message is declined if nothing can be credited', async () => {
  const card = await insertBareCard(issuer, { usd: 100 })
  const codeOf = async (cents: number, fields: Record<number, string>) => {
    const refund = purchaseMessage(card, cents, { mti: '0200', fields: { 3: '200000', ...fields } })
    return (await issuer.ask(refund)).fields[39]
  }
  assert.equal(await codeOf(1_000, { 2: '4000001111111112' }), '14')
  assert.equal(await codeOf(1_000, { 49: '998' }), '13')
  assert.equal(await codeOf(0, {}), '13')
  assert.deepEqual(await moneyOf(card), { cents: 10_000, held: 0 })
  const rows = await db.rows('select 1 from transactions where card_id = $1', [card.id])
  assert.equal(rows.length, 0)
})

test('a refund in a single message is a request: after a sign-off it is declined', async () => {
  const card = await insertBareCard(issuer, { usd: 100 })
  const refund = purchaseMessage(card, 1_000, { mti: '0200', fields: { 3: '200000' } })
  const bytes = await issuer.askBytes(encode(default_link, refund), { sign_on: 'signed_off' })
  assert.equal(decode(default_link, bytes ?? new Uint8Array()).fields[39], '91')
  assert.deepEqual(await moneyOf(card), { cents: 10_000, held: 0 })
})
