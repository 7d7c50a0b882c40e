import assert from 'node:assert/strict'
import { createHmac } from 'node:crypto'
import { test } from 'node:test'
import { Stripe } from '#test/packages/stripe.ts'
import { verifyWebhook, WebhookVerificationError } from './verify_webhook.ts'

const secret = 'whsec_kPz3f0m1Jm8vQx5dYb2nRt6wLc9hGs4aUe7iOo0pXyZ'
const body = JSON.stringify({ id: 'evt_1', type: 'card.loaded', data: { object: { name: 'Zoë' } } })
const now = 1_763_199_000

const v1 = (t: number, text = body, key = secret) =>
  createHmac('sha256', key).update(`${t}.${text}`).digest('hex')
const header = (t = now, ...digests: string[]) =>
  [`t=${t}`, ...(digests.length > 0 ? digests : [v1(t)]).map((digest) => `v1=${digest}`)].join(',')
const verify = (value: string, options = {}) =>
  verifyWebhook(body, { 'Service-Signature': value }, secret, { now, ...options })

const refuses = (promise: Promise<unknown>, reason: string) =>
  assert.rejects(promise, (error) => {
    assert(error instanceof WebhookVerificationError)
    assert.equal(error.reason, reason)
    return true
  })

test('returns the event if the signature is valid', async () => {
  const event = await verify(header())
  assert.equal(event.id, 'evt_1')
  assert.equal(event.data.object['name'], 'Zoë')
})

test('accepts headers and body in every common form', async () => {
  const given = [
    new Headers({ 'Service-Signature': header() }),
    { 'service-signature': header() },
    { 'SERVICE-SIGNATURE': [header()] },
  ]
  for (const headers of given) {
    for (const bytes of [body, Buffer.from(body)]) {
      assert.equal((await verifyWebhook(bytes, headers, secret, { now })).id, 'evt_1')
    }
  }
})

test('accepts one valid signature out of two while a secret is being rotated', async () => {
  await verify(header(now, v1(now, body, 'whsec_new'), v1(now)))
  await refuses(verify(header(now, v1(now, body, 'whsec_new'))), 'mismatch')
})

test('refuses timestamps that are too old or in the future', async () => {
  await verify(header(now - 300))
  await verify(header(now + 300))
  await refuses(verify(header(now - 301)), 'too_old')
  await refuses(verify(header(now + 301)), 'too_new')
  await refuses(verify(header(now - 11), { tolerance: 10 }), 'too_old')
  await refuses(verify(header(now + 11), { tolerance: 10 }), 'too_new')
})

test('refuses a changed body, secret, timestamp or signature of any length', async () => {
  await refuses(
    verifyWebhook(`${body} `, { 'service-signature': header() }, secret, { now }),
    'mismatch',
  )
  await refuses(
    verifyWebhook(body, { 'service-signature': header() }, secret.slice(6), { now }),
    'mismatch',
  )
  await refuses(verify(`t=${now + 1},v1=${v1(now)}`), 'mismatch')
  for (const digest of ['', 'ab', v1(now).slice(1), `${v1(now)}0`, 'é'.repeat(64)]) {
    await refuses(verify(header(now, digest)), 'mismatch')
  }
})

test('refuses malformed signature headers', async () => {
  await refuses(verifyWebhook(body, {}, secret), 'no_signature')
  for (const value of ['nonsense', `v1=${v1(now)}`, `t=${now}`, 't=soon,v1=ab', 't=-1,v1=ab']) {
    await refuses(verify(value), 'malformed')
  }
})

test("accepts and refuses the same signatures as Stripe's library", async () => {
  const stripe = new Stripe('sk_test_unused')
  const made = stripe.webhooks.generateTestHeaderString({ payload: body, secret, timestamp: now })
  assert.equal((await verify(made)).id, 'evt_1')
})
