import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { OutgoingMessage } from '#iso8583/message.ts'
import { systemClock } from '#platform/runtime/clock.ts'
import {
  type BareCard,
  type Issuer,
  insertBareCard,
  openIssuer,
  purchaseMessage,
} from '#test/support/issuer.ts'
import { assertBooksSound } from '#test/support/money.ts'

/** Two nodes on one database. The second one's clock may be behind. */
let now = new Date('2031-05-31T23:59:58.000Z')
let behind_ms = 0
const issuer = await openIssuer({ clock: { ...systemClock(), now: () => now } })
const late = await openIssuer({
  clock: { ...systemClock(), now: () => new Date(now.getTime() - behind_ms) },
  database_url: issuer.url,
  data_dir: issuer.data_dir,
})
const { db } = issuer

const at = (timestamp: string) => {
  now = new Date(`2031-${timestamp}Z`)
}

async function openCard(limits: { per_transaction?: number; daily?: number; monthly?: number }) {
  const card = await insertBareCard(issuer, { usd: 1_000 })
  const micros = (usd: number | undefined) => (usd === undefined ? null : usd * 1_000_000)
  await db.run(
    `update cards set per_transaction_micros = $2, daily_micros = $3, monthly_micros = $4
      where id = $1`,
    [card.id, micros(limits.per_transaction), micros(limits.daily), micros(limits.monthly)],
  )
  return card
}

const buy = (card: BareCard, usd: number) => purchaseMessage(card, usd * 100, { now })

const original = ({ mti, fields }: OutgoingMessage) =>
  `${mti}${fields[11]}${fields[7]}00000400001${'0'.repeat(11)}`

/** Increments a purchase: an 0100 that names it in element 90. */
const more = (card: BareCard, purchase: OutgoingMessage, usd: number) =>
  purchaseMessage(card, usd * 100, {
    now,
    fields: { 37: purchase.fields[37], 90: original(purchase) },
  })

/** Reverses a purchase completely, or down to a new amount. */
const reverse = (card: BareCard, purchase: OutgoingMessage, down_to?: number) => {
  const total = String((down_to ?? 0) * 100).padStart(12, '0')
  const replacement = down_to === undefined ? undefined : total.padEnd(42, '0')
  const fields = { 37: purchase.fields[37], 90: original(purchase), 95: replacement }
  return purchaseMessage(card, 100, { mti: '0420', now, fields })
}

const capture = (card: BareCard, purchase: OutgoingMessage, usd: number) =>
  purchaseMessage(card, usd * 100, { mti: '0220', now, fields: { 37: purchase.fields[37] } })

const codeOf = async (message: OutgoingMessage, node: Issuer = issuer) =>
  (await node.ask(message)).fields[39]

type SpentAmounts = { day: string; daily: number; monthly: number }

async function spentBy(card: BareCard): Promise<SpentAmounts | undefined> {
  const [spent] = await db.rows<SpentAmounts>(
    `select spent_day::text as day, (day_spent_micros / 1000000)::int as daily,
            (month_spent_micros / 1000000)::int as monthly
       from purses where owner_id = $1 and kind = 'card'`,
    [card.id],
  )
  return spent
}

test('increments count on the day and in the month they are made', async () => {
  at('05-31T23:59:58.000')
  const card = await openCard({ daily: 20, monthly: 20 })
  const purchase = buy(card, 10)
  assert.equal(await codeOf(purchase), '00')
  at('06-01T00:00:01.000')
  const codes: (string | undefined)[] = []
  for (let count = 0; count < 20; count += 1) codes.push(await codeOf(more(card, purchase, 10)))
  assert.deepEqual(codes, ['00', '00', ...Array(18).fill('61')])
  assert.deepEqual(await spentBy(card), { day: '2031-06-01', daily: 20, monthly: 20 })
  const [row] = await db.rows<{ held: number }>(
    `select (held_micros / 1000000)::int as held from transactions
      where card_id = $1 and held_micros > 0`,
    [card.id],
  )
  assert.equal(row?.held, 30, 'one day and month of May, one of June')
  await assertBooksSound(db)
})

test('the limit of one purchase holds for all of it, with its increments', async () => {
  at('06-10T12:00:00.000')
  const card = await openCard({ per_transaction: 25 })
  const purchase = buy(card, 20)
  assert.equal(await codeOf(purchase), '00')
  assert.equal(await codeOf(more(card, purchase, 6)), '61')
  assert.equal(await codeOf(more(card, purchase, 5)), '00')
  assert.equal(await codeOf(more(card, purchase, 1)), '61')
  assert.equal(await codeOf(reverse(card, purchase, 10)), '00')
  assert.equal(await codeOf(more(card, purchase, 15)), '00', 'what was given back is free again')
})

test('a reversal lowers the day that each increment was counted on', async () => {
  at('06-10T23:59:59.000')
  const card = await openCard({ daily: 100, monthly: 1_000 })
  const purchase = buy(card, 10)
  await codeOf(purchase)
  at('06-11T00:00:01.000')
  await codeOf(buy(card, 7))
  await codeOf(more(card, purchase, 20))
  assert.deepEqual(await spentBy(card), { day: '2031-06-11', daily: 27, monthly: 37 })
  assert.equal(await codeOf(reverse(card, purchase)), '00')
  assert.deepEqual(await spentBy(card), { day: '2031-06-11', daily: 7, monthly: 7 })
  await assertBooksSound(db)
})

test('a reversed or uncaptured part lowers the latest counts first', async () => {
  at('06-29T12:00:00.000')
  const card = await openCard({})
  const purchase = buy(card, 10)
  await codeOf(purchase)
  at('06-30T12:00:00.000')
  await codeOf(more(card, purchase, 10))
  assert.equal(await codeOf(reverse(card, purchase, 15)), '00')
  assert.deepEqual(await spentBy(card), { day: '2031-06-30', daily: 5, monthly: 15 })
  at('07-01T12:00:00.000')
  await codeOf(more(card, purchase, 10))
  assert.equal(await codeOf(reverse(card, purchase, 3)), '00')
  assert.deepEqual(await spentBy(card), { day: '2031-07-01', daily: 0, monthly: 0 })
  await codeOf(buy(card, 4))
  assert.equal(await codeOf(reverse(card, purchase)), '00', 'nothing of it counts in July')
  assert.deepEqual(await spentBy(card), { day: '2031-07-01', daily: 4, monthly: 4 })
  await assertBooksSound(db)
})

for (const [name, midnight] of [
  ['midnight', '06-15'],
  ['the end of a month', '07-01'],
] as const) {
  test(`no fact is refused where two nodes differ by 2 s around ${name}`, async () => {
    behind_ms = 2_000
    now = new Date(Date.parse(`2031-${midnight}T00:00:01.000Z`))
    const card = await openCard({})
    const before = new Date(now.getTime() - behind_ms)
    const ask = (message: OutgoingMessage) => codeOf(message, late)
    const yesterday = purchaseMessage(card, 1_000, { now: before })
    assert.equal(await ask(yesterday), '00', 'the node behind')
    assert.equal(await codeOf(buy(card, 5)), '00', 'the node ahead begins the day')
    assert.equal(await ask(reverse(card, yesterday)), '00')
    assert.equal((await spentBy(card))?.daily, 5, 'the day before is given back, not this one')

    const on_new_day = purchaseMessage(card, 2_000, { now: before })
    assert.equal(await ask(on_new_day), '00', 'the node behind counts on the day that has begun')
    assert.equal((await spentBy(card))?.daily, 25)
    assert.equal(await codeOf(reverse(card, on_new_day)), '00')
    assert.equal((await spentBy(card))?.daily, 5, 'it is given back to the day it counted on')
    const forced = purchaseMessage(card, 300, { mti: '0220', now: before })
    assert.equal(await ask(forced), '00')
    const refund = purchaseMessage(card, 300, {
      mti: '0220',
      now: before,
      fields: { 3: '200000', 37: forced.fields[37] },
    })
    assert.equal(await ask(refund), '00')
    assert.deepEqual(await spentBy(card), { day: `2031-${midnight}`, daily: 8, monthly: 8 })
    behind_ms = 0
    await assertBooksSound(db)
  })
}

test('limits hold across two nodes whose clocks differ, in every order of messages', async () => {
  behind_ms = 2_000
  now = new Date('2031-07-31T23:59:59.500Z')
  const card = await openCard({ daily: 50, monthly: 80 })
  let state = 42
  const below = (limit: number) => {
    state = (state * 1_103_515_245 + 12_345) % 2_147_483_648
    return Math.floor((state / 2_147_483_648) * limit)
  }
  const open: OutgoingMessage[] = []
  const wrong: string[] = []
  for (let step = 0; step < 150; step += 1) {
    now = new Date(now.getTime() + below(60))
    if (step === 75) now = new Date('2031-08-31T23:59:59.500Z')
    const node = below(2) === 0 ? issuer : late
    const purchase = open[below(open.length)]
    const choice = below(5)
    const message =
      purchase === undefined || choice < 2
        ? purchaseMessage(card, (1 + below(12)) * 100, { now })
        : choice === 2
          ? more(card, purchase, 1 + below(9))
          : choice === 3
            ? reverse(card, purchase)
            : capture(card, purchase, 1 + below(15))
    const code = await codeOf(message, node)
    if (code === '00' && message.mti === '0100' && message.fields[90] === undefined) {
      open.push(message)
    }
    const isQuestion = message.mti === '0100'
    if (code !== '00' && !(isQuestion && code === '61')) wrong.push(`${message.mti} ${code}`)
    const spent = await spentBy(card)
    if (spent !== undefined && (spent.daily < 0 || spent.monthly < spent.daily)) {
      wrong.push(`${step}: ${JSON.stringify(spent)}`)
    }
  }
  behind_ms = 0
  // A reversal of a captured purchase gets code 21 and changes nothing.
  assert.deepEqual(
    wrong.filter((line) => line !== '0420 21'),
    [],
  )
  await assertBooksSound(db)
})

test('a refund goes to the first capture, though its node had the faster clock', async () => {
  at('09-10T12:00:00.000')
  behind_ms = 5_000
  const card = await openCard({})
  const purchase = buy(card, 30)
  assert.equal(await codeOf(purchase), '00')
  assert.equal(await codeOf(capture(card, purchase, 10)), '00')
  assert.equal(await codeOf(capture(card, purchase, 12), late), '00')
  assert.equal(await codeOf(capture(card, purchase, 8), late), '00')
  const refund = purchaseMessage(card, 11 * 100, {
    ...{ mti: '0220', now, fields: { 3: '200000', 37: purchase.fields[37] } },
  })
  assert.equal(await codeOf(refund, late), '00')
  behind_ms = 0
  const rows = await db.rows<{ captured: number; refunded: number; is_stamped: boolean }>(
    `select (captured_micros / 1000000)::int as captured,
            (refunded_micros / 1000000)::int as refunded,
            id like 'txn_' || id_time(created_at) || '%' as is_stamped
       from transactions where card_id = $1 and type = 'capture' order by id`,
    [card.id],
  )
  assert.deepEqual(rows, [
    { captured: 10, refunded: 10, is_stamped: true },
    { captured: 12, refunded: 1, is_stamped: true },
    { captured: 8, refunded: 0, is_stamped: true },
  ])
  await assertBooksSound(db)
})

test('a failed attempt on a node whose clock is behind is one decline of that day', async () => {
  at('09-11T12:00:00.000')
  behind_ms = 5_000
  const card = await openCard({})
  const purchase = buy(card, 30)
  assert.equal(await codeOf(purchase), '00')
  // It sorts after the purchase, so it is later than its attempt by that node's clock.
  const { mti, fields } = more(card, purchase, 5)
  assert.equal(await codeOf({ mti, fields: { ...fields, 14: '9912' } }, late), '54')
  behind_ms = 0
  const [decline] = await db.rows<{ is_later: boolean }>(
    `select t.created_at > c.failed_at[1] as is_later
       from transactions t join cards c on c.account_id = t.account_id and c.id = t.card_id
      where t.card_id = $1 and t.type = 'decline'`,
    [card.id],
  )
  assert.deepEqual(decline, { is_later: true })
  await assertBooksSound(db)
})
