import assert from 'node:assert/strict'
import { test } from 'node:test'
import { assertRefused } from '#test/support/calls.ts'
import { send } from '#test/support/http.ts'
import { recordingLog, wholeDatabase } from '#test/support/leaks.ts'
import { authorize, follow, openSpender } from '#test/support/spending.ts'
import { startTestService } from '#test/support/start.ts'

const kept = recordingLog()
const service = await startTestService({ dependencies: { log: kept.log } })
const { url, runtime, sandbox_host } = service

test('shows the request and the response, masked', async () => {
  const spender = await openSpender(service, { usd: 100 })
  const authorized = await authorize(url, spender, { amount: 12.5 })
  const reply = await send(url, 'GET', `/v1/transactions/${authorized.id}/auth`, {
    bearer: spender.key,
  })
  assert.equal(reply.status, 200, reply.text)
  const details = reply.body as Record<string, never>
  const { fields, named, response_fields } = details as Record<string, Record<string, string>>
  assert.deepEqual(
    [details['mti'], details['response_mti'], details['iso_version'], details['response_code']],
    ['0100', '0110', '1987', '00'],
  )
  const shown = `400000******${spender.card.last4}`
  assert.deepEqual([fields?.['2'], fields?.['14'], fields?.['48']], [shown, '****', undefined])
  assert.equal(fields?.['4'], '000000001250')
  assert.deepEqual([fields?.['38'], fields?.['39']], [authorized.authorization_code, '00'])
  assert(response_fields?.['44'], 'the response also says how the CVV was checked')
  assert.equal(fields?.['44'], undefined)
  assert.equal(response_fields?.['2'], shown)
  assert.equal(named?.['primary_account_number'], shown)
  assert.equal(named?.['merchant_category_code'], authorized.mcc)
  assert.match(String(details['bitmap']), /^[0-9a-f]{16,32}$/)
})

test('the card number and CVV of a purchase are nowhere in the database or the log', async () => {
  const spender = await openSpender(service, { usd: 100 })
  const { pan, cvv } = await sandbox_host.cardNumberOf(spender.account_id, spender.card.id)
  const authorized = await authorize(url, spender, { amount: 10, cvv: '987' })
  assert.equal(authorized.decline_code === 'cvv_mismatch' || cvv.open() === '987', true)
  const paid = await authorize(url, spender, { amount: 10 })
  await follow(url, spender, { id: paid.id, verb: 'capture' })
  const everything = (await wholeDatabase(runtime.db)) + kept.text()
  const hex = Buffer.from(pan.open()).toString('hex')
  for (const secret of [pan.open(), hex, '9203987']) {
    assert(!everything.includes(secret), 'a secret is stored in clear')
  }
})

test("another account's transaction is not found", async () => {
  const owner = await openSpender(service, { usd: 100 })
  const stranger = await openSpender(service, { usd: 0 })
  const { id } = await authorize(url, owner, { amount: 1 })
  const reply = await send(url, 'GET', `/v1/transactions/${id}/auth`, { bearer: stranger.key })
  assertRefused(reply, 404, 'not_found')
})
