import assert from 'node:assert/strict'
import { test } from 'node:test'
import { systemClock } from '#platform/runtime/clock.ts'
import { insertBareCard, openIssuer, purchaseMessage } from '#test/support/issuer.ts'
import { assertBooksSound } from '#test/support/money.ts'

const PURCHASES = 100
const USD = 1_000_000

let now = new Date('2031-05-31T23:59:59.999Z')
const clock = { ...systemClock(), now: () => now }
const first = await openIssuer({ clock })
const { url: database_url, data_dir } = first
const second = await openIssuer({ clock, database_url, data_dir })
const { db } = first

const took_ms: number[] = []

/** A hundred concurrent purchases of one dollar on two nodes; the number of approvals. */
async function buyAtOnce(card: Awaited<ReturnType<typeof insertBareCard>>): Promise<number> {
  const responses = await Promise.all(
    Array.from({ length: PURCHASES }, async (_, at) => {
      const began = performance.now()
      const message = purchaseMessage(card, 100, { now })
      const { fields } = await (at % 2 === 0 ? first : second).ask(message)
      took_ms.push(performance.now() - began)
      return fields[39]
    }),
  )
  assert.deepEqual(
    responses.filter((code) => code !== '00' && code !== '61'),
    [],
  )
  return responses.filter((code) => code === '00').length
}

const steps = [
  ['2031-05-31T23:59:59.999Z', 60],
  ['2031-06-01T00:00:00.000Z', 60],
  ['2031-06-01T23:59:59.999Z', 0],
  ['2031-06-02T00:00:00.000Z', 60],
  ['2031-06-03T00:00:00.000Z', 30],
  ['2031-06-30T23:59:59.999Z', 0],
  ['2031-07-01T00:00:00.000Z', 60],
] as const

test('a hundred concurrent purchases at every edge fill each day and month exactly', async (t) => {
  const card = await insertBareCard(first, { usd: 1_000 })
  await db.run('update cards set daily_micros = $2, monthly_micros = $3 where id = $1', [
    card.id,
    60 * USD,
    150 * USD,
  ])
  for (const [at, expected] of steps) {
    now = new Date(at)
    assert.equal(await buyAtOnce(card), expected, at)
  }
  await assertBooksSound(db)
  const sorted = took_ms.sort((one, two) => one - two)
  const p99 = sorted[Math.floor(sorted.length * 0.99)] ?? Infinity
  assert(p99 < 2_000, `p99 ${p99} ms`)
  t.diagnostic(`${sorted.length} purchases, 0 above a limit, p99 ${p99.toFixed(0)} ms`)
})
