import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { OutgoingMessage } from '#iso8583/message.ts'
import { writePrivateTags } from '#iso8583/tags.ts'
import { systemClock } from '#platform/runtime/clock.ts'
import { type BareCard, insertBareCard, openIssuer, purchaseMessage } from '#test/support/issuer.ts'
import { assertBooksSound } from '#test/support/money.ts'
import { insertChallenge } from './challenge_store.ts'

const APPROVED_AT = new Date('2031-03-10T12:00:00.000Z')
const DAY_MS = 24 * 3_600_000
let now = APPROVED_AT
const clock = { ...systemClock(), now: () => now }
const issuer = await openIssuer({ clock })
const second = await openIssuer({ clock, database_url: issuer.url, data_dir: issuer.data_dir })
const { db } = issuer

type ChallengeFields = { merchant_id?: string | null; currency?: string; status?: 'declined' }

/** A challenge over 20.00 at Test Shop that its holder has approved, or declined. */
async function approveChallenge(card: BareCard, given: ChallengeFields = {}): Promise<string> {
  const id = issuer.dependencies.newId('chg', now)
  await insertChallenge(db, {
    account_id: card.account_id,
    id,
    card_id: card.id,
    amount_minor: 2_000n,
    currency: given.currency ?? 'USD',
    amount_micros: 20_000_000n,
    merchant_name: 'Test Shop',
    merchant_id: given.merchant_id ?? null,
    mcc: '5732',
    merchant_country: 'US',
    status: 'pending',
    response_hash: '',
    body: '',
    next_attempt_at: null,
    created_at: APPROVED_AT,
    expires_at: new Date(APPROVED_AT.getTime() + 300_000),
  })
  await db.run('update three_ds_challenges set status = $2, decided_at = $3 where id = $1', [
    id,
    given.status ?? 'approved',
    APPROVED_AT,
  ])
  return id
}

type Elements = Record<number, string | undefined>

function purchase(card: BareCard, challenge_id: string, fields: Elements = {}, cents = 2_000) {
  const tags = writePrivateTags([{ tag: '43', value: challenge_id }])
  return purchaseMessage(card, cents, { now, fields: { 48: tags, ...fields } })
}

type Outcome = { code: string | undefined; result: string | null; challenge_id: string | null }

async function outcomeOf(message: OutgoingMessage, on = issuer): Promise<Outcome> {
  const answer = await on.ask(message)
  const [row] = await db.rows<Omit<Outcome, 'code'>>(
    `select three_ds_result as result, three_ds_challenge_id as challenge_id
       from transactions where retrieval_reference_number = $1`,
    [message.fields[37]],
  )
  assert(row !== undefined)
  return { code: answer.fields[39], ...row }
}

const approvedBy = (challenge_id: string) => ({ code: '00', result: 'approved', challenge_id })
const NONE = { code: '00', result: 'none', challenge_id: null }

const EUR = { 6: '000000002000', 10: '61000000', 49: '978', 51: '840' }
const place = (name: string) => `${name.padEnd(25)}City         US`

test('an approved challenge serves a purchase of its card, merchant, currency and amount', async () => {
  const card = await insertBareCard(issuer, { usd: 100 })
  const id = await approveChallenge(card)
  assert.deepEqual(await outcomeOf(purchase(card, id, {}, 1_999)), approvedBy(id))
  const in_euros = await approveChallenge(card, { currency: 'EUR' })
  assert.deepEqual(await outcomeOf(purchase(card, in_euros, EUR)), approvedBy(in_euros))
})

const OTHERS: [string, ChallengeFields, Elements, number?][] = [
  ['a merchant of another name', {}, { 43: place('Other Shop') }],
  ['another merchant_id', { merchant_id: 'MERCHANT0000009' }, {}],
  ['another currency', {}, EUR],
  ['the same digits in another currency', { currency: 'EUR' }, {}],
  ['one cent more', {}, {}, 2_001],
]

for (const [name, challenged, fields, cents] of OTHERS) {
  test(`an approved challenge does not serve ${name}`, async () => {
    const card = await insertBareCard(issuer, { usd: 100 })
    const id = await approveChallenge(card, challenged)
    assert.deepEqual(await outcomeOf(purchase(card, id, fields, cents)), NONE)
  })
}

test('an approved challenge that was not used for another purchase still serves its own', async () => {
  const card = await insertBareCard(issuer, { usd: 100 })
  const id = await approveChallenge(card)
  assert.deepEqual(await outcomeOf(purchase(card, id, { 43: place('Other Shop') })), NONE)
  assert.deepEqual(await outcomeOf(purchase(card, id)), approvedBy(id))
})

test('merchants are compared by merchant_id if both sides have one', async () => {
  const card = await insertBareCard(issuer, { usd: 100 })
  const same = await approveChallenge(card, { merchant_id: 'MERCHANT0000001' })
  const renamed = { 43: place('TEST SHOP*ORDER 77') }
  assert.deepEqual(await outcomeOf(purchase(card, same, renamed)), approvedBy(same))
  const by_name = await approveChallenge(card)
  const elsewhere = { 42: 'MERCHANT0000009', 43: place('test  shop') }
  assert.deepEqual(await outcomeOf(purchase(card, by_name, elsewhere)), approvedBy(by_name))
})

test("an approved challenge does not serve another card, nor another account's", async () => {
  const card = await insertBareCard(issuer, { usd: 100 })
  const { account_id } = card
  for (const other of [
    await insertBareCard(issuer, { usd: 100, account_id }),
    await insertBareCard(issuer, { usd: 100 }),
  ]) {
    const id = await approveChallenge(card)
    assert.deepEqual(await outcomeOf(purchase(other, id)), NONE)
    assert.deepEqual(await outcomeOf(purchase(card, id)), approvedBy(id))
  }
})

test('an approved challenge serves for 24 hours and not a millisecond longer', async () => {
  const card = await insertBareCard(issuer, { usd: 100 })
  const [in_time, late] = [await approveChallenge(card), await approveChallenge(card)]
  now = new Date(APPROVED_AT.getTime() + DAY_MS)
  assert.deepEqual(await outcomeOf(purchase(card, in_time)), approvedBy(in_time))
  now = new Date(APPROVED_AT.getTime() + DAY_MS + 1)
  assert.deepEqual(await outcomeOf(purchase(card, late)), NONE)
  now = new Date(APPROVED_AT.getTime() + 30 * DAY_MS)
  assert.deepEqual(await outcomeOf(purchase(card, late, { 43: place('Other Shop') })), NONE)
  now = APPROVED_AT
})

test('an unknown challenge is ignored', async () => {
  const card = await insertBareCard(issuer, { usd: 100 })
  assert.deepEqual(await outcomeOf(purchase(card, 'chg_01kc3z8e5xf8m9r4t2v6w7y8za')), NONE)
})

test('a purchase whose challenge was declined is declined', async () => {
  const card = await insertBareCard(issuer, { usd: 100 })
  for (const fields of [{}, { 43: place('Other Shop') }]) {
    const id = await approveChallenge(card, { status: 'declined' })
    const { result, code } = await outcomeOf(purchase(card, id, fields))
    assert.deepEqual([result, code], ['declined', '1A'])
  }
})

test('of concurrent purchases with one challenge on two nodes exactly one uses it', async () => {
  const card = await insertBareCard(issuer, { usd: 1_000 })
  const id = await approveChallenge(card)
  const outcomes = await Promise.all(
    Array.from({ length: 30 }, (_, at) =>
      outcomeOf(purchase(card, id), at % 2 === 0 ? issuer : second),
    ),
  )
  const served = outcomes.filter(({ result }) => result === 'approved')
  assert.deepEqual(served, [approvedBy(id)])
  assert.deepEqual(
    outcomes.filter(({ result }) => result !== 'approved'),
    Array(29).fill(NONE),
  )
  await assertBooksSound(db)
})
