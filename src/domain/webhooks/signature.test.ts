import assert from 'node:assert/strict'
import { createHmac, createSecretKey } from 'node:crypto'
import { test } from 'node:test'
import { Stripe } from '#test/packages/stripe.ts'
import { signatureHeader } from './signature.ts'

const BODY = '{"id":"evt_1"}'
const AT = new Date('2026-11-15T12:00:00.999Z')
const SECONDS = 1_794_744_000

const keyOf = (secret: string) => createSecretKey(secret, 'utf8')
const hmac = (secret: string, text: string) =>
  createHmac('sha256', secret).update(text).digest('hex')

test('a signature covers the time of the attempt and the body, for each secret', () => {
  const header = signatureHeader(BODY, [keyOf('whsec_new'), keyOf('whsec_old')], AT)
  const signed = `${SECONDS}.${BODY}`
  assert.equal(
    header,
    `t=${SECONDS},v1=${hmac('whsec_new', signed)},v1=${hmac('whsec_old', signed)}`,
  )
})

test("Stripe's library accepts it, and refuses it for another body, time or secret", () => {
  const { webhooks } = new Stripe('sk_test')
  const tolerance_s = 300
  const verify = (body: string, header: string, secret: string, at: Date) =>
    webhooks.constructEvent(body, header, secret, tolerance_s, undefined, at.getTime())
  const header = signatureHeader(BODY, [keyOf('whsec_new')], AT)
  assert.equal(verify(BODY, header, 'whsec_new', AT).id, 'evt_1')
  const later = new Date(AT.getTime() + 600_000)
  assert.throws(() => verify(BODY, header, 'whsec_new', later))
  assert.throws(() =>
    verify(BODY, header.replace(`${SECONDS}`, `${SECONDS + 600}`), 'whsec_new', later),
  )
  assert.throws(() => verify(`${BODY} `, header, 'whsec_new', AT))
  assert.throws(() => verify(BODY, header, 'whsec_other', AT))
})
