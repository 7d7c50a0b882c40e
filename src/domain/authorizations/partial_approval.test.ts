import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { readAdditionalAmounts } from '#iso8583/subfields.ts'
import {
  type BareCard,
  insertBareCard,
  issuerOver,
  openIssuer,
  purchaseMessage,
} from '#test/support/issuer.ts'
import { assertBooksSound } from '#test/support/money.ts'
import { makeEngine } from './engine.ts'

const plain = await openIssuer()
const { db, dependencies } = plain
const risk = { ...dependencies.settings.risk, partial_approvals: true }
const engine = makeEngine({ ...dependencies, settings: { ...dependencies.settings, risk } })
const issuer = issuerOver(dependencies, engine)
after(() => engine.drain())

const TAKES_PARTS = { 48: '61011' }

async function heldOn({ id }: BareCard): Promise<{ held: number; spent: number }[]> {
  return db.rows(
    `select (t.held_micros / 10000)::int as held, (p.day_spent_micros / 10000)::int as spent
       from transactions t
       join purses p on p.account_id = t.account_id and p.kind = 'card' and p.owner_id = t.card_id
      where t.card_id = $1 and t.type = 'authorization'`,
    [id],
  )
}

test('a terminal that supports it gets the available balance, and only that is held', async () => {
  const card = await insertBareCard(issuer, { usd: 30 })
  const message = purchaseMessage(card, 5_000, { fields: TAKES_PARTS })
  const { fields, raw } = await issuer.ask(message)
  assert.deepEqual([fields[39], fields[4]], ['10', '000000003000'])
  assert.match(fields[38] ?? '', /^[0-9A-Z]{6}$/)
  const [asked] = readAdditionalAmounts(fields[54] ?? '')
  assert.deepEqual(
    [asked?.amount_type, asked?.currency, Number(asked?.amount)],
    ['57', '840', 5_000],
  )
  assert.deepEqual(await heldOn(card), [{ held: 3_000, spent: 3_000 }])
  assert.deepEqual((await issuer.ask(message)).raw, raw)
  await assertBooksSound(db)
})

test('in another currency both amounts are reduced in proportion', async () => {
  const card = await insertBareCard(issuer, { usd: 30 })
  const billed = { 49: '978', 6: '000000005425', 10: '61085000', 51: '840' }
  const message = purchaseMessage(card, 5_000, { fields: { ...billed, ...TAKES_PARTS } })
  const { fields } = await issuer.ask(message)
  assert.deepEqual([fields[39], fields[4], fields[6]], ['10', '000000002764', '000000003000'])
  assert.deepEqual(await heldOn(card), [{ held: 3_000, spent: 3_000 }])
})

test('a sufficient balance is approved in full; below one dollar there is no partial approval', async () => {
  const rich = await insertBareCard(issuer, { usd: 50 })
  const whole = await issuer.ask(purchaseMessage(rich, 5_000, { fields: TAKES_PARTS }))
  assert.deepEqual([whole.fields[39], whole.fields[54]], ['00', undefined])
  const poor = await insertBareCard(issuer, { usd: 0.99 })
  const none = await issuer.ask(purchaseMessage(poor, 5_000, { fields: TAKES_PARTS }))
  assert.equal(none.fields[39], '51')
})

test('no partial approval with another objection, or without the terminal asking', async () => {
  const card = await insertBareCard(issuer, { usd: 30 })
  assert.equal((await issuer.ask(purchaseMessage(card, 5_000))).fields[39], '51')
  const debit = purchaseMessage(card, 5_000, { mti: '0200', fields: TAKES_PARTS })
  assert.equal((await issuer.ask(debit)).fields[39], '51')
  await db.run('update cards set daily_micros = 1000000 where id = $1', [card.id])
  const limited = purchaseMessage(card, 5_000, { fields: TAKES_PARTS })
  assert.equal((await issuer.ask(limited)).fields[39], '61')
  assert.deepEqual(await heldOn(card), [])
})

test('declines if partial approvals are off', async () => {
  const card = await insertBareCard(plain, { usd: 30 })
  const answer = await plain.ask(purchaseMessage(card, 5_000, { fields: TAKES_PARTS }))
  assert.equal(answer.fields[39], '51')
})
