import assert from 'node:assert/strict'
import { test } from 'node:test'
import { systemClock } from '#platform/runtime/clock.ts'
import { insertBareCard, openIssuer, purchaseMessage } from '#test/support/issuer.ts'
import { assertBooksSound } from '#test/support/money.ts'

let now = new Date('2031-05-31T23:59:58.000Z')
const issuer = await openIssuer({ clock: { ...systemClock(), now: () => now } })
const { db } = issuer

test('limits hold across midnight and month end, and a reversal lowers its own day', async () => {
  const card = await insertBareCard(issuer, { usd: 1_000 })
  await db.run(
    'update cards set daily_micros = 100000000, monthly_micros = 150000000 where id = $1',
    [card.id],
  )
  const ask = async (count: number) => {
    const messages = Array.from({ length: count }, () => purchaseMessage(card, 1_000, { now }))
    const answers = await Promise.all(messages.map((message) => issuer.ask(message)))
    const approved = messages.filter((_, at) => answers[at]?.fields[39] === '00')
    return { approved, codes: answers.map(({ fields }) => fields[39]) }
  }
  const last_day = await ask(15)
  assert.equal(last_day.approved.length, 10)
  now = new Date('2031-06-01T00:00:01.000Z')
  assert.equal((await ask(12)).approved.length, 10)
  const [taken] = last_day.approved
  assert(taken !== undefined)
  const { 7: sent, 11: stan } = taken.fields
  const original = `0100${stan}${sent}00000400001${'0'.repeat(11)}`
  const reversal = purchaseMessage(card, 1_000, { mti: '0420', fields: { 90: original }, now })
  assert.equal((await issuer.ask(reversal)).fields[39], '00')
  assert.deepEqual((await ask(1)).codes, ['61'], 'yesterday was paid back, not today')
  now = new Date('2031-06-02T00:00:01.000Z')
  const next_day = await ask(10)
  assert.equal(next_day.approved.length, 5, 'the month has 150')
  const spent = await db.rows<{ day: string; today: number; month: number }>(
    `select spent_day::text as day, (day_spent_micros / 10000)::int as today,
            (month_spent_micros / 10000)::int as month
       from purses where owner_id = $1 and kind = 'card'`,
    [card.id],
  )
  assert.deepEqual(spent, [{ day: '2031-06-02', today: 5_000, month: 15_000 }])
  await assertBooksSound(db)
})
