import assert from 'node:assert/strict'
import { test } from 'node:test'
import { openMoneyRoom } from '#test/support/money_room.ts'
import { soundBooks } from '#test/support/sound_books.ts'
import { operatorGetFigures } from './operator_get_figures.ts'

const room = await openMoneyRoom({}, await soundBooks())
const figures = async (input: Parameters<typeof operatorGetFigures>[1] = {}) =>
  (await room.operate((context) => operatorGetFigures(context, input))).value
const [busiest = { day: '' }] = await room.db.rows<{ day: string }>(
  `select to_char(created_at at time zone 'UTC', 'YYYY-MM-DD') as day from transactions
    group by 1 order by count(*) desc limit 1`,
)

test('counts the decisions, captures and disputes of a UTC day', async () => {
  const { day } = busiest
  const { days } = await figures({ from: day, to: day })
  assert.equal(days.length, 1)
  const [one] = days
  assert(one !== undefined && one.approved > 0 && one.captured_usd > 0 && one.disputes_opened > 0)
  const reasons = Object.values(one.decline_reasons).reduce((sum, count) => sum + count, 0)
  assert.equal(reasons, one.declined, 'every decline has a reason')
  const rate = one.approved / (one.approved + one.declined)
  assert(Math.abs((one.approval_rate ?? 0) - rate) < 0.0001)
})

test('shows the last 30 days unless a range is sent, and at most 366', async () => {
  room.clock.set(new Date('2031-03-04T23:59:59.000Z'))
  const { from, to, days } = await figures()
  assert.deepEqual([from, to, days.length], ['2031-02-03', '2031-03-04', 30])
  assert.equal(days[0]?.approval_rate, null, 'no rate without requests')
  const whole_year = await figures({ from: '2030-03-04', to: '2031-03-04' })
  assert.equal(whole_year.days.length, 366)
  const invalid = { code: 'invalid_request' }
  await assert.rejects(figures({ from: '2030-03-03', to: '2031-03-04' }), invalid)
  await assert.rejects(figures({ from: '2031-03-05', to: '2031-03-04' }), invalid)
})

test('accepts a UTC timestamp as its day, and refuses dates that do not exist', async () => {
  const { from } = await figures({ from: '2031-03-01T12:00:00.000Z', to: '2031-03-02' })
  assert.equal(from, '2031-03-01')
  for (const text of ['yesterday', '2026-02-30', '2026-02-30T00:00:00.000Z', '2026-01-01T']) {
    await assert.rejects(figures({ from: text }), { code: 'invalid_request' })
  }
})

test('totals are those of the books, suspended accounts included', async () => {
  const { totals } = await figures()
  assert.equal(totals.accounts, 1)
  assert(totals.treasuries_usd > 0 && totals.cards_usd > 0 && totals.cards_active > 0)
  await room.db.run(`update accounts set status = 'suspended'`)
  assert.equal((await figures()).totals.accounts_suspended, 1)
})
