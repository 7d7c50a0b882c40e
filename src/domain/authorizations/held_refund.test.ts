import assert from 'node:assert/strict'
import { test } from 'node:test'
import { openConnection } from '#sandbox/card_network.ts'
import { getCard } from '#test/support/cards.ts'
import { send } from '#test/support/http.ts'
import { purchaseMessage } from '#test/support/issuer.ts'
import { assertBooksSound } from '#test/support/money.ts'
import { operate } from '#test/support/operator.ts'
import { openSpender } from '#test/support/spending.ts'
import { startTestService } from '#test/support/start.ts'

const alarms: object[] = []
const log = {
  info: () => undefined,
  error: (message: string, fields: object) => {
    if (message.includes('refund')) alarms.push(fields)
  },
}
const env = { FLORIN_RISK: '{"refund_review_usd": 0}', FLORIN_ISO_SIGN_ON: 'required' }
const service = await startTestService({ env, dependencies: { log } })
const { url, sandbox_host, runtime } = service

type Spender = Awaited<ReturnType<typeof openSpender>>
type Message = ReturnType<typeof purchaseMessage>

const open = (usd = 100) => openSpender(service, { usd })

/** Sends a network message about the card over a link of its own. */
async function sendMessage({ account_id, card }: Spender, cents: number, given: object) {
  const { pan, exp_year } = await sandbox_host.cardNumberOf(account_id, card.id)
  const plastic = { pan: pan.open(), expiry: `${exp_year % 100}${String(card.exp_month)}` }
  const message = purchaseMessage(plastic, cents, given)
  return { message, code: await responseTo(message) }
}

async function responseTo(message: Message): Promise<string | undefined> {
  const line = await openConnection(sandbox_host.card_host_port)
  await line.send({ mti: '0800', fields: { 7: '1115040000', 11: '000001', 70: '001' } })
  const response = await line.send(message)
  line.end()
  return response.fields[39]
}

const refundOf = (
  spender: Spender,
  cents: number,
  fields: Record<number, string | undefined> = {},
) => sendMessage(spender, cents, { mti: '0220', fields: { 3: '200000', ...fields } })

const balanceOf = async ({ key, card }: Spender) => (await getCard(url, key, card.id)).balance_usd

type HeldRefund = { id: string; card_id: string; amount_usd: number; merchant_name: string }

async function heldOf({ card }: Spender): Promise<HeldRefund[]> {
  const { body, text } = await operate(url, 'GET', '/held_refunds')
  assert(Array.isArray(body.data), text)
  return (body.data as HeldRefund[]).filter(({ card_id }) => card_id === card.id)
}

/** Element 90 of a message that names this refund. */
function originalOf({ fields }: Message, acquirer = fields[32] ?? ''): string {
  return `0220${fields[11]}${fields[7]}${acquirer.padStart(11, '0')}${'0'.repeat(11)}`
}

const settle = () => sandbox_host.runTasks(['settle_clearings'])

test('a refund without a purchase gets a 00 and is credited only after an operator approves it', async () => {
  const spender = await open()
  const { message, code } = await refundOf(spender, 500_000)
  assert.equal(code, '00')
  assert.equal(await responseTo({ ...message, mti: '0221' }), '00', 'its repeat')
  await settle()
  assert.equal(await balanceOf(spender), 100)
  const [held, ...others] = await heldOf(spender)
  assert(held !== undefined && others.length === 0)
  assert.deepEqual([held.amount_usd, held.merchant_name], [5_000, 'Test Shop'])
  assert.deepEqual(alarms, [{ clearing: held.id }])
  assert.match(await runtime.metrics.registry.metrics(), /florin_held_refunds_total 1/)

  const approved = await operate(url, 'POST', `/held_refunds/${held.id}/approve`)
  assert.deepEqual([approved.status, approved.body.status], [200, 'approved'], approved.text)
  await settle()
  await settle()
  assert.equal(await balanceOf(spender), 5_100)
  assert.deepEqual(await heldOf(spender), [])
  const list = await send(url, 'GET', `/v1/cards/${spender.card.id}/transactions`, {
    bearer: spender.key,
  })
  assert.deepEqual(
    list.body.data.map((row: { type: string; amount_usd: number }) => [row.type, row.amount_usd]),
    [['refund', 5_000]],
  )
  const events = await send(url, 'GET', '/v1/activity?limit=100', { bearer: spender.key })
  assert.equal(events.text.split('transaction.refunded').length - 1, 1)
  const audit = await send(url, 'GET', '/v1/audit_log?limit=100', { bearer: spender.key })
  assert.match(audit.text, /approve_refund/)
  const again = await operate(url, 'POST', `/held_refunds/${held.id}/approve`)
  assert.equal(again.status, 404)
  await assertBooksSound(runtime.db)
})

test('a refused refund is never credited', async () => {
  const spender = await open()
  await refundOf(spender, 2_000)
  const [held] = await heldOf(spender)
  const path = `/held_refunds/${held?.id}`
  const stranger = await send(url, 'POST', `/operator/v1${path}/refuse`, { bearer: spender.key })
  assert.equal(stranger.status, 401)
  const refused = await operate(url, 'POST', `${path}/refuse`)
  assert.deepEqual([refused.status, refused.body.status], [200, 'refused'])
  assert.equal((await operate(url, 'POST', `${path}/approve`)).status, 404)
  await settle()
  assert.equal(await balanceOf(spender), 100)
  assert.deepEqual(await heldOf(spender), [])
  const audit = await send(url, 'GET', '/v1/audit_log?limit=100', { bearer: spender.key })
  assert.match(audit.text, /refuse_refund/)
  await assertBooksSound(runtime.db)
})

test('refunds up to the captured amount are credited immediately, further ones are held', async () => {
  const spender = await open()
  const { message } = await sendMessage(spender, 1_000, {})
  const rrn = { 37: message.fields[37] as string }
  await sendMessage(spender, 1_000, { mti: '0220', fields: rrn })
  assert.equal(await balanceOf(spender), 90)
  await refundOf(spender, 600, rrn)
  assert.equal(await balanceOf(spender), 96)
  await refundOf(spender, 500_000, rrn)
  assert.equal(await balanceOf(spender), 96)
  assert.equal((await heldOf(spender)).length, 1)
  await refundOf(spender, 400, rrn)
  assert.equal(await balanceOf(spender), 100)
  await assertBooksSound(runtime.db)
})

test('a held refund without a merchant has that of its purchase, or none if it has no purchase', async () => {
  const spender = await open()
  const { message } = await sendMessage(spender, 1_000, {})
  const { 37: rrn = '' } = message.fields
  const nameless = { 43: undefined, 42: undefined, 18: undefined }
  await refundOf(spender, 2_000, { 37: rrn, ...nameless })
  await refundOf(spender, 3_000, nameless)
  const [of_none, of_purchase] = await heldOf(spender)
  assert.deepEqual(
    [of_purchase?.amount_usd, of_purchase?.merchant_name, of_none?.merchant_name],
    [20, 'Test Shop', ''],
  )
  await operate(url, 'POST', `/held_refunds/${of_purchase?.id}/approve`)
  await operate(url, 'POST', `/held_refunds/${of_none?.id}/approve`)
  await settle()
  const activity = await send(url, 'GET', '/v1/activity?event=transaction.refunded', {
    bearer: spender.key,
  })
  assert.deepEqual(
    activity.body.data.map(({ message }: { message: string }) => message),
    ['Refunded: $30.00 from an unknown merchant.', 'Refunded: $20.00 from Test Shop.'],
  )
  await assertBooksSound(runtime.db)
})

test('a refund in a single message is held like one in a clearing', async () => {
  const spender = await open()
  const refund = { mti: '0200', fields: { 3: '200000' } }
  assert.equal((await sendMessage(spender, 2_000, refund)).code, '00')
  assert.equal(await balanceOf(spender), 100)
  const [held] = await heldOf(spender)
  await operate(url, 'POST', `/held_refunds/${held?.id}/approve`)
  await settle()
  assert.equal(await balanceOf(spender), 120)
  await assertBooksSound(runtime.db)
})

for (const acquirer of [undefined, '']) {
  const by = acquirer === undefined ? 'the network' : 'the network, without its acquirer,'
  test(`a held refund that ${by} reverses is never credited`, async () => {
    const spender = await open()
    const { message } = await refundOf(spender, 2_000)
    const [held] = await heldOf(spender)
    const reversal = { mti: '0420', fields: { 90: originalOf(message, acquirer), 37: undefined } }
    assert.equal((await sendMessage(spender, 2_000, reversal)).code, '00')
    assert.deepEqual(await heldOf(spender), [])
    assert.equal((await operate(url, 'POST', `/held_refunds/${held?.id}/approve`)).status, 404)
    await settle()
    assert.equal(await balanceOf(spender), 100)
    await assertBooksSound(runtime.db)
  })
}

test('the reversal of a held refund leaves the purchase that has its code', async () => {
  const spender = await open()
  const { message } = await sendMessage(spender, 5_000, { mti: '0200' })
  const { data } = (await send(url, 'GET', '/v1/transactions', { bearer: spender.key })).body
  const code = (data as { authorization_code: string | null }[])[0]?.authorization_code
  assert(code)
  const refund = await refundOf(spender, 6_000, { 37: message.fields[37] ?? '', 38: code })
  const fields = { 37: message.fields[37], 38: code, 90: originalOf(refund.message) }
  assert.equal((await sendMessage(spender, 6_000, { mti: '0420', fields })).code, '00')
  assert.deepEqual(await heldOf(spender), [])
  assert.equal(await balanceOf(spender), 50)
  await assertBooksSound(runtime.db)
})

test('an approved refund can still be reversed by its original message', async () => {
  const spender = await open()
  const { message } = await refundOf(spender, 2_000)
  const [held] = await heldOf(spender)
  await operate(url, 'POST', `/held_refunds/${held?.id}/approve`)
  await settle()
  assert.equal(await balanceOf(spender), 120)
  const reversal = { mti: '0420', fields: { 90: originalOf(message), 37: undefined } }
  await sendMessage(spender, 2_000, reversal)
  assert.equal(await balanceOf(spender), 100)
  await assertBooksSound(runtime.db)
})
