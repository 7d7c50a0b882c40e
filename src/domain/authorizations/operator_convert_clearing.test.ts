import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Transaction } from '#contract/transactions.ts'
import { assertRefused } from '#test/support/calls.ts'
import { getCard } from '#test/support/cards.ts'
import { clearInYen } from '#test/support/clearings.ts'
import { send } from '#test/support/http.ts'
import { assertBooksSound } from '#test/support/money.ts'
import { operate } from '#test/support/operator.ts'
import { openSpender } from '#test/support/spending.ts'
import { startTestService } from '#test/support/start.ts'

const alarms: object[] = []
const log = {
  info: () => undefined,
  error: (message: string, fields: object) => {
    if (message.includes('awaits conversion')) alarms.push(fields)
  },
}
const service = await startTestService({ dependencies: { log } })
const { url, sandbox_host, runtime } = service

type Spender = Awaited<ReturnType<typeof openSpender>>

type PendingConversion = {
  id: string
  card_id: string
  amount: number
  currency: string
  kind: string
}

async function waitingOf({ card }: Spender): Promise<PendingConversion[]> {
  const { body } = await operate(url, 'GET', '/pending_conversions')
  return (body.data as PendingConversion[]).filter(({ card_id }) => card_id === card.id)
}

async function transactionsOf({ key, card }: Spender): Promise<Transaction[]> {
  const { body } = await send(url, 'GET', `/v1/cards/${card.id}/transactions`, { bearer: key })
  return body.data
}

test('a capture without a USD amount raises an alarm, awaits conversion and is booked once', async () => {
  const spender = await openSpender(service, { usd: 100 })
  await clearInYen(service, spender)
  const [held, ...others] = await waitingOf(spender)
  assert(held !== undefined && others.length === 0)
  assert.deepEqual([held.amount, held.currency, held.kind], [1_500, 'JPY', 'capture'])
  assert.deepEqual(alarms, [{ clearing: held.id }])
  assert.match(await runtime.metrics.registry.metrics(), /florin_pending_conversions_total 1/)
  assert.deepEqual(await transactionsOf(spender), [])

  const path = `/pending_conversions/${held.id}/convert`
  for (const amount_usd of [0, -1, 1.005]) {
    const wrong = await operate(url, 'POST', path, { body: { amount_usd } })
    assertRefused(wrong, 422, 'invalid_amount')
  }
  // The ledger could not hold the larger ones, and an amount that was entered can't be changed.
  for (const amount_usd of [1e10, 9.2e12, 1e15, 1e300]) {
    const huge = await operate(url, 'POST', path, { body: { amount_usd } })
    assertRefused(huge, 422, 'amount_out_of_range')
  }
  const priced = await operate(url, 'POST', path, { body: { amount_usd: 10.05 } })
  assert.deepEqual([priced.status, priced.body.amount_usd], [200, 10.05])
  await sandbox_host.runTasks(['settle_clearings'])
  await sandbox_host.runTasks(['settle_clearings'])

  const [capture, ...more] = await transactionsOf(spender)
  assert(capture !== undefined && more.length === 0)
  assert.deepEqual([capture.type, capture.amount, capture.amount_usd], ['capture', 1_500, 10.05])
  const details = await send(url, 'GET', `/v1/transactions/${capture.id}/auth`, {
    bearer: spender.key,
  })
  assert.equal(details.status, 200, details.text)
  assert.equal(details.body.fields['49'], '392')
  const card = await getCard(url, spender.key, spender.card.id)
  assert.deepEqual([card.balance_usd, card.held_usd], [89.95, 0])
  assert.deepEqual(await waitingOf(spender), [])
  const again = await operate(url, 'POST', path, { body: { amount_usd: 10.05 } })
  assert.equal(again.status, 404)
  await assertBooksSound(runtime.db)
})

test('an amount that no rate can give is refused, and the clearing still awaits conversion', async () => {
  const spender = await openSpender(service, { usd: 10 })
  await clearInYen(service, spender)
  const [held] = await waitingOf(spender)
  assert(held !== undefined)
  const path = `/pending_conversions/${held.id}/convert`
  const above = await operate(url, 'POST', path, { body: { amount_usd: 7_500.01 } })
  assertRefused(above, 422, 'amount_out_of_range')
  assert.equal(
    above.body.message,
    'amount_usd must be at most $7,500.00: no currency is worth more than $5.00.',
  )
  for (const amount_usd of [2 ** 33 + 1, 1e300]) {
    const wrong = await operate(url, 'POST', path, { body: { amount_usd } })
    assertRefused(wrong, 422, 'amount_out_of_range')
  }
  assert.deepEqual(await waitingOf(spender), [held])
})

test('a clearing of a tiny amount can be rounded up, and an unknown currency has no maximum', async () => {
  const spender = await openSpender(service, { usd: 10 })
  const convertAs = async (amount_minor: number, currency: string, amount_usd: number) => {
    await clearInYen(service, spender)
    const id = (await waitingOf(spender)).find(({ currency: each }) => each === 'JPY')?.id
    await runtime.db.run(
      'update pending_clearings set amount_minor = $2, currency = $3 where id = $1',
      [id, amount_minor, currency],
    )
    const path = `/pending_conversions/${id}/convert`
    return (await operate(url, 'POST', path, { body: { amount_usd } })).status
  }
  assert.equal(await convertAs(1, 'KWD', 0.01), 200)
  assert.equal(await convertAs(1_000, 'KWD', 5), 200)
  assert.equal(await convertAs(1_000, 'KWD', 5.01), 422)
  assert.equal(await convertAs(100, '???', 5_000), 200)
})

test('the USD amount is entered once, and only by an operator', async () => {
  const spender = await openSpender(service, { usd: 10 })
  await clearInYen(service, spender, '200000')
  const [held] = await waitingOf(spender)
  assert(held !== undefined)
  await runtime.db.run('update pending_clearings set amount_micros = 1000000 where id = $1', [
    held.id,
  ])
  const path = `/pending_conversions/${held.id}/convert`
  const second = await operate(url, 'POST', path, { body: { amount_usd: 2 } })
  assertRefused(second, 409, 'invalid_request')
  const stranger = await send(url, 'POST', `/operator/v1${path}`, {
    bearer: spender.key,
    body: { amount_usd: 2 },
  })
  assert.equal(stranger.status, 401)
  await sandbox_host.runTasks(['settle_clearings'])
  const card = await getCard(url, spender.key, spender.card.id)
  assert.equal(card.balance_usd, 11)
})

test('a clearing that cannot be booked does not keep others from being booked', async () => {
  const [overdrawn, sound] = [await openSpender(service), await openSpender(service, { usd: 10 })]
  for (const spender of [overdrawn, overdrawn, sound]) await clearInYen(service, spender)
  const enterAmount = ({ card }: Spender, micros: bigint) =>
    runtime.db.run('update pending_clearings set amount_micros = $2 where card_id = $1', [
      card.id,
      micros,
    ])
  // The second of them exceeds what a purse can hold.
  await enterAmount(overdrawn, 9_000_000_000_000_000_000n)
  await enterAmount(sound, 1_000_000n)
  await sandbox_host.runTasks(['settle_clearings'])
  assert.equal((await waitingOf(overdrawn)).length, 1)
  assert.equal((await getCard(url, sound.key, sound.card.id)).balance_usd, 9)
})
