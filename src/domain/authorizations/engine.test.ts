import assert from 'node:assert/strict'
import { test } from 'node:test'
import { default_link } from '#iso8583/links.ts'
import { encode } from '#iso8583/message.ts'
import { insertBareCard, issuerOver, openIssuer, purchaseMessage } from '#test/support/issuer.ts'
import { assertBooksAreSound } from '#test/support/spending.ts'

const issuer = await openIssuer()
const { db } = issuer

async function purses(card_id: string): Promise<Record<string, bigint>> {
  const rows = await db.rows<{ kind: string; balance_micros: bigint }>(
    'select kind, balance_micros from purse_balances where owner_id = $1',
    [card_id],
  )
  return Object.fromEntries(rows.map((row) => [row.kind, row.balance_micros]))
}

test('an approval holds the amount once, and every repeat gets the same bytes', async () => {
  const card = await insertBareCard(issuer, { usd: 100 })
  const body = encode(default_link, purchaseMessage(card, 1_000))
  const answers = await Promise.all(Array.from({ length: 50 }, () => issuer.askBytes(body)))
  const later = await issuer.askBytes(body)
  const texts = new Set(
    [...answers, later].map((bytes) => Buffer.from(bytes ?? []).toString('hex')),
  )
  assert.equal(texts.size, 1)
  assert.deepEqual(await purses(card.id), { card: 90_000_000n, hold: 10_000_000n })
  await assertBooksAreSound(db)
})

test('the same message with another amount is refused and changes nothing', async () => {
  const card = await insertBareCard(issuer, { usd: 100 })
  const message = purchaseMessage(card, 1_000)
  assert.equal((await issuer.ask(message)).fields[39], '00')
  const other = { ...message, fields: { ...message.fields, 4: '000000002000' } }
  assert.equal((await issuer.ask(other)).fields[39], '94')
  assert.deepEqual(await purses(card.id), { card: 90_000_000n, hold: 10_000_000n })
})

test('thirty at once on a daily limit of a hundred approve exactly ten, on two nodes', async () => {
  const second = await openIssuer({ database_url: issuer.url, data_dir: issuer.data_dir })
  const card = await insertBareCard(issuer, { usd: 1_000 })
  await db.run('update cards set daily_micros = 100000000 where id = $1', [card.id])
  const answers = await Promise.all(
    Array.from({ length: 30 }, (_, at) =>
      (at % 2 === 0 ? issuer : second).ask(purchaseMessage(card, 1_000)),
    ),
  )
  const codes = answers.map(({ fields }) => fields[39])
  assert.equal(codes.filter((code) => code === '00').length, 10)
  assert.equal(codes.filter((code) => code === '61').length, 20)
  await assertBooksAreSound(db)
})

test('one message on two nodes at once has one effect and one answer', async () => {
  const second = await openIssuer({ database_url: issuer.url, data_dir: issuer.data_dir })
  const card = await insertBareCard(issuer, { usd: 100 })
  const stranger = { pan: '4000000000000002', expiry: card.expiry }
  for (const whose of [card, stranger]) {
    const body = encode(default_link, purchaseMessage(whose, 1_000))
    const answers = await Promise.all(
      Array.from({ length: 50 }, (_, at) => (at % 2 === 0 ? issuer : second).askBytes(body)),
    )
    const texts = new Set(answers.map((bytes) => Buffer.from(bytes ?? []).toString('hex')))
    assert.equal(texts.size, 1)
  }
  assert.deepEqual(await purses(card.id), { card: 90_000_000n, hold: 10_000_000n })
})

test('a poisoned message in a batch of a hundred is answered alone', async () => {
  const card = await insertBareCard(issuer, { usd: 1_000 })
  const messages = Array.from({ length: 100 }, () => purchaseMessage(card, 100))
  const poisoned = messages[42]
  assert(poisoned)
  // The database takes no such text: the whole batch fails on it.
  const reference = poisoned.fields[37]
  const submit = issuer.engine.submit
  const engine = {
    ...issuer.engine,
    submit: (request: Parameters<typeof submit>[0]) =>
      submit(
        request.reference.retrieval_reference_number === reference
          ? { ...request, merchant: { ...request.merchant, merchant_name: 'a\u0000b' } }
          : request,
      ),
  }
  const spoiled = issuerOver(issuer.seams, engine)
  const answers = await Promise.all(messages.map((message) => spoiled.ask(message)))
  const codes = answers.map(({ fields: answer }) => answer[39])
  assert.equal(codes[42], '96')
  assert.equal(codes.filter((code) => code === '00').length, 99)
  await assertBooksAreSound(db)
})

test('a reversal that overtakes its purchase leaves nothing held when it arrives', async () => {
  const card = await insertBareCard(issuer, { usd: 100 })
  const purchase = purchaseMessage(card, 1_000)
  const { 7: sent, 11: stan } = purchase.fields
  const original = `0100${stan}${sent}00000400001${'0'.repeat(11)}`
  const reversal = purchaseMessage(card, 1_000, { mti: '0400', fields: { 90: original } })
  assert.equal((await issuer.ask(reversal)).fields[39], '25')
  const answer = await issuer.ask(purchase)
  assert.equal(answer.fields[39], '94')
  assert.equal((await purses(card.id))['card'], 100_000_000n)
  const advice = purchaseMessage(card, 1_000, { mti: '0420', fields: { 90: original } })
  assert.equal((await issuer.ask(advice)).fields[39], '00')
  await assertBooksAreSound(db)
})

test('the kill switch declines questions and lets facts through', async () => {
  const card = await insertBareCard(issuer, { usd: 100 })
  const purchase = purchaseMessage(card, 1_000)
  assert.equal((await issuer.ask(purchase)).fields[39], '00')
  await db.run(`update kill_switches set is_on = true where rail = 'authorizations'`)
  try {
    assert.equal((await issuer.ask(purchaseMessage(card, 500))).fields[39], '91')
    const capture = purchaseMessage(card, 1_000, {
      mti: '0220',
      fields: { 37: purchase.fields[37] },
    })
    assert.equal((await issuer.ask(capture)).fields[39], '00')
  } finally {
    await db.run(`update kill_switches set is_on = false where rail = 'authorizations'`)
  }
  assert.deepEqual(await purses(card.id), { card: 90_000_000n, hold: 0n })
})
