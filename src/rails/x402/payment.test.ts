import assert from 'node:assert/strict'
import { test } from 'node:test'
import { readPayment } from './payment.ts'
import { type PricedCall, requirementOf } from './requirement.ts'

const ours = `0x${'a1'.repeat(20)}`
const other = `0x${'b2'.repeat(20)}`
const priced: PricedCall = {
  amount_micros: 500_000n,
  pay_to: ours,
  url: 'https://florin.example/v1/cards',
  description: 'Issue a card.',
}

type Changes = { accepted?: object; authorization?: object; resource?: object }

function headerWith({ accepted = {}, authorization = {}, resource }: Changes): string {
  const payload = {
    x402Version: 2,
    ...(resource && { resource }),
    accepted: { ...requirementOf(priced), ...accepted },
    payload: {
      signature: `0x${'11'.repeat(65)}`,
      authorization: {
        from: `0x${'c3'.repeat(20)}`,
        to: ours,
        value: '500000',
        validAfter: '0',
        validBefore: '1900000000',
        nonce: `0x${'0d'.repeat(32)}`,
        ...authorization,
      },
    },
  }
  return Buffer.from(JSON.stringify(payload)).toString('base64')
}

test('a payment of the price to our address is read', () => {
  const payment = readPayment(headerWith({}), priced)
  assert.ok(typeof payment !== 'string', String(payment))
  assert.equal(payment.amount_micros, 500_000n)
  assert.equal(payment.valid_before.getTime(), 1_900_000_000_000)
})

const mismatches: [string, Changes, RegExp][] = [
  ['an accepted amount below the price', { accepted: { amount: '499999' } }, /amount/],
  ['a signed amount below the price', { authorization: { value: '499999' } }, /amount/],
  ['an accepted receiver that is not ours', { accepted: { payTo: other } }, /does not pay/],
  ['a signed receiver that is not ours', { authorization: { to: other } }, /does not pay/],
  ['another network', { accepted: { network: 'eip155:1' } }, /network/],
  ['another asset', { accepted: { asset: other } }, /asset/],
  ['another scheme', { accepted: { scheme: 'upto' } }, /scheme/],
  ['another call', { resource: { url: 'https://florin.example/v1/balance' } }, /made for/],
]

for (const [name, changes, reason] of mismatches) {
  test(`a payment with ${name} does not pay for the call`, () => {
    const refusal = readPayment(headerWith(changes), priced)
    assert.ok(typeof refusal === 'string')
    assert.match(refusal, reason)
  })
}
