import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { OutgoingMessage } from '#iso8583/message.ts'
import { type BareCard, insertBareCard, openIssuer, purchaseMessage } from '#test/support/issuer.ts'
import { assertBooksSound } from '#test/support/money.ts'

const issuer = await openIssuer()
const { db } = issuer

/** Element 90 of a message that names this one. */
function originalOf({ mti, fields }: OutgoingMessage): string {
  const { 7: sent, 11: stan, 32: acquirer = '' } = fields
  return `${mti}${stan}${sent}${acquirer.padStart(11, '0')}${'0'.repeat(11)}`
}

/** Increments a purchase: an 0100 that names it in element 90. */
function incrementOf(card: BareCard, purchase: OutgoingMessage, cents: number): OutgoingMessage {
  const original = originalOf(purchase)
  return purchaseMessage(card, cents, { fields: { 37: purchase.fields[37], 90: original } })
}

async function codeOf(message: OutgoingMessage): Promise<string | undefined> {
  return (await issuer.ask(message)).fields[39]
}

type State = { cents: number; held: number; status: string; spent: number; expires_at: Date }

async function stateOf(card: BareCard): Promise<State[]> {
  return db.rows<State>(
    `select (t.amount_micros / 10000)::int as cents, (t.held_micros / 10000)::int as held, t.status,
            (p.day_spent_micros / 10000)::int as spent, t.expires_at
       from transactions t
       join purses p on p.account_id = t.account_id and p.kind = 'card' and p.owner_id = t.card_id
      where t.card_id = $1 and t.type = 'authorization'
      order by t.id`,
    [card.id],
  )
}

test('an increment grows the hold of its purchase, and that purchase only', async () => {
  const card = await insertBareCard(issuer, { usd: 100 })
  const purchase = purchaseMessage(card, 1_000)
  assert.equal(await codeOf(purchase), '00')
  const [before] = await stateOf(card)
  const more = incrementOf(card, purchase, 500)
  const first = await issuer.ask(more)
  assert.equal(first.fields[39], '00')
  assert.deepEqual((await issuer.ask(more)).raw, first.raw)
  const [grown, ...others] = await stateOf(card)
  assert(grown !== undefined && before !== undefined && others.length === 0)
  assert.deepEqual([grown.cents, grown.held, grown.spent], [1_500, 1_500, 1_500])
  assert.ok(grown.expires_at >= before.expires_at)
  await assertBooksSound(db)
})

test('an increment beyond funds or limits is declined and the hold stays', async () => {
  const card = await insertBareCard(issuer, { usd: 20 })
  const purchase = purchaseMessage(card, 1_000)
  await codeOf(purchase)
  assert.equal(await codeOf(incrementOf(card, purchase, 1_001)), '51')
  await db.run('update cards set daily_micros = 15000000 where id = $1', [card.id])
  assert.equal(await codeOf(incrementOf(card, purchase, 501)), '61')
  assert.equal(await codeOf(incrementOf(card, purchase, 500)), '00')
  const [state] = await stateOf(card)
  assert.deepEqual([state?.cents, state?.held, state?.spent], [1_500, 1_500, 1_500])
  await assertBooksSound(db)
})

test('a reversal releases the purchase with all its increments', async () => {
  const card = await insertBareCard(issuer, { usd: 100 })
  const purchase = purchaseMessage(card, 1_000)
  await codeOf(purchase)
  await codeOf(incrementOf(card, purchase, 500))
  const { 90: original } = incrementOf(card, purchase, 1).fields
  const reversal = purchaseMessage(card, 1_500, { mti: '0400', fields: { 90: original } })
  assert.equal(await codeOf(reversal), '00')
  const [state] = await stateOf(card)
  assert.deepEqual([state?.status, state?.held, state?.spent], ['reversed', 0, 0])
  await assertBooksSound(db)
})

test('a capture that names an increment captures the whole purchase', async () => {
  const card = await insertBareCard(issuer, { usd: 100 })
  const purchase = purchaseMessage(card, 1_000)
  await codeOf(purchase)
  const more = incrementOf(card, purchase, 500)
  await codeOf(more)
  const capture = purchaseMessage(card, 1_500, { mti: '0220', fields: { 90: originalOf(more) } })
  assert.equal(await codeOf(capture), '00')
  const [state] = await stateOf(card)
  assert.deepEqual([state?.status, state?.held, state?.spent], ['captured', 0, 1_500])
  await assertBooksSound(db)
})

for (const isWithNumber of [true, false]) {
  const by = isWithNumber ? 'and has its reference number' : 'by element 90 alone'
  test(`a reversal that names an increment ${by} releases its amount, once`, async () => {
    const card = await insertBareCard(issuer, { usd: 100 })
    const purchase = purchaseMessage(card, 1_000)
    await codeOf(purchase)
    const more = incrementOf(card, purchase, 500)
    await codeOf(more)
    const number = isWithNumber ? { 37: purchase.fields[37] } : {}
    const fields = { ...number, 90: originalOf(more) }
    for (const mti of ['0400', '0420', '0420']) {
      assert.equal(await codeOf(purchaseMessage(card, 500, { mti, fields })), '00')
      const [state] = await stateOf(card)
      assert.deepEqual([state?.status, state?.held, state?.spent], ['pending', 1_000, 1_000])
    }
    const whole = { 90: originalOf(purchase) }
    assert.equal(await codeOf(purchaseMessage(card, 1_000, { mti: '0420', fields: whole })), '00')
    const [state] = await stateOf(card)
    assert.deepEqual([state?.status, state?.held, state?.spent], ['reversed', 0, 0])
    await assertBooksSound(db)
  })
}

test('a reversal that names an increment without its amount releases nothing', async () => {
  const card = await insertBareCard(issuer, { usd: 100 })
  const purchase = purchaseMessage(card, 1_000)
  await codeOf(purchase)
  const more = incrementOf(card, purchase, 500)
  await codeOf(more)
  const fields = { 90: originalOf(more) }
  assert.equal(await codeOf(purchaseMessage(card, 0, { mti: '0400', fields })), '21')
  assert.equal(await codeOf(purchaseMessage(card, 0, { mti: '0420', fields })), '00')
  const pounds = { ...fields, 49: '826' }
  assert.equal(await codeOf(purchaseMessage(card, 500, { mti: '0420', fields: pounds })), '00')
  assert.equal((await stateOf(card))[0]?.held, 1_500)
  assert.equal(await codeOf(purchaseMessage(card, 500, { mti: '0420', fields })), '00')
  assert.equal((await stateOf(card))[0]?.held, 1_000, 'a later one with the amount')
  await assertBooksSound(db)
})

test('a reversal that names no known message finds its purchase by the code only', async () => {
  const card = await insertBareCard(issuer, { usd: 200 })
  const purchase = purchaseMessage(card, 10_000)
  const { 38: code } = (await issuer.ask(purchase)).fields
  const unknown = originalOf(purchaseMessage(card, 10_000))
  const codeOfReversal = (more: OutgoingMessage['fields']) => {
    const fields = { 37: purchase.fields[37], 90: unknown, ...more }
    return codeOf(purchaseMessage(card, 10_000, { mti: '0400', fields }))
  }
  assert.equal(await codeOfReversal({}), '25', 'its number and amount')
  assert.equal(await codeOfReversal({ 38: 'WRONG1' }), '25', 'another code')
  assert.equal((await stateOf(card))[0]?.held, 10_000)
  assert.equal(await codeOfReversal({ 38: code ?? '' }), '00', 'its code')
  assert.equal((await stateOf(card))[0]?.held, 0)
  await assertBooksSound(db)
})

test('a reversal of an increment that never came releases nothing of its purchase', async () => {
  const card = await insertBareCard(issuer, { usd: 200 })
  const purchase = purchaseMessage(card, 10_000)
  await codeOf(purchase)
  const lost = incrementOf(card, purchase, 5_000)
  const fields = { 37: purchase.fields[37], 90: originalOf(lost) }
  assert.equal(await codeOf(purchaseMessage(card, 5_000, { mti: '0420', fields })), '00')
  assert.equal(await codeOf(purchaseMessage(card, 5_000, { mti: '0400', fields })), '25')
  assert.equal(await codeOf(lost), '94', 'it is declined when it comes')
  const [state] = await stateOf(card)
  assert.deepEqual([state?.status, state?.held, state?.spent], ['pending', 10_000, 10_000])
  const without_original = { 37: purchase.fields[37], 90: '0'.repeat(42) }
  const whole = purchaseMessage(card, 10_000, { mti: '0400', fields: without_original })
  assert.equal(await codeOf(whole), '00', 'element 37 counts where element 90 names nothing')
  assert.equal((await stateOf(card))[0]?.held, 0)
  await assertBooksSound(db)
})

for (const acquirer of ['', '555555']) {
  const other = acquirer === '' ? 'no acquirer' : 'another acquirer'
  test(`a reversal whose element 90 has ${other} still finds its message`, async () => {
    const card = await insertBareCard(issuer, { usd: 100 })
    const purchase = purchaseMessage(card, 1_000)
    await codeOf(purchase)
    const more = incrementOf(card, purchase, 500)
    const { 38: code } = (await issuer.ask(more)).fields
    const reversalOf = (message: OutgoingMessage, cents: number) => {
      const named = originalOf({ ...message, fields: { ...message.fields, 32: acquirer } })
      const fields = { 37: undefined, 38: code, 90: named }
      return purchaseMessage(card, cents, { mti: '0420', fields })
    }
    for (let count = 0; count < 2; count += 1) {
      assert.equal(await codeOf(reversalOf(more, 500)), '00')
      assert.equal((await stateOf(card))[0]?.held, 1_000, 'the increment, once')
    }
    assert.equal(await codeOf(reversalOf(purchase, 1_000)), '00')
    const [state] = await stateOf(card)
    assert.deepEqual([state?.status, state?.held, state?.spent], ['reversed', 0, 0])
    await assertBooksSound(db)
  })
}

test('element 90 names a message that has no element 32', async () => {
  const card = await insertBareCard(issuer, { usd: 100 })
  const fields = { 32: undefined }
  const [first, second] = [
    purchaseMessage(card, 1_000, { mti: '0120', fields }),
    purchaseMessage(card, 700, { mti: '0120', fields }),
  ]
  const reversalOf = (advice: OutgoingMessage) =>
    purchaseMessage(card, 1_000, { mti: '0420', fields: { 37: undefined, 90: originalOf(advice) } })
  await codeOf(first)
  await codeOf(reversalOf(first))
  assert.equal((await stateOf(card))[0]?.held, 0, 'the reversal of a stand-in approval')
  await codeOf(reversalOf(second))
  await codeOf(second)
  assert.equal((await stateOf(card)).length, 1, 'and one that overtakes it')
  await assertBooksSound(db)
})

test('a reversal that names a completion releases the whole purchase', async () => {
  const card = await insertBareCard(issuer, { usd: 100 })
  const purchase = purchaseMessage(card, 1_000)
  await codeOf(purchase)
  const number = { 37: purchase.fields[37] }
  const completion = purchaseMessage(card, 3_000, { mti: '0120', fields: number })
  await codeOf(completion)
  await codeOf(incrementOf(card, purchase, 500))
  const named = { ...number, 90: originalOf(completion) }
  assert.equal(await codeOf(purchaseMessage(card, 3_000, { mti: '0420', fields: named })), '00')
  const [state] = await stateOf(card)
  assert.deepEqual([state?.status, state?.held, state?.spent], ['reversed', 0, 0])
  await assertBooksSound(db)
})

test('an increment of a closed or unknown purchase is a new purchase', async () => {
  const card = await insertBareCard(issuer, { usd: 100 })
  const purchase = purchaseMessage(card, 1_000)
  await codeOf(purchase)
  await codeOf(purchaseMessage(card, 1_000, { mti: '0220', fields: { 37: purchase.fields[37] } }))
  assert.equal(await codeOf(incrementOf(card, purchase, 500)), '00')
  const never = purchaseMessage(card, 1_000)
  assert.equal(await codeOf(incrementOf(card, never, 700)), '00')
  const states = await stateOf(card)
  assert.deepEqual(
    states.map(({ cents, held, status }) => [cents, held, status]),
    [
      [1_000, 0, 'captured'],
      [500, 500, 'pending'],
      [700, 700, 'pending'],
    ],
  )
  await assertBooksSound(db)
})
