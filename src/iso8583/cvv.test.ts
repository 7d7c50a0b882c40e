import assert from 'node:assert/strict'
import { test } from 'node:test'
import { computeCvv, isValidCvv } from './cvv.ts'

const key_pair = Buffer.from('0123456789ABCDEFFEDCBA9876543210', 'hex')
const input = { pan: '4123456789012345', expiry: '8701', service_code: '101' }

test('the CVV equals the published test value', () => {
  assert.equal(computeCvv(key_pair, input), '561')
})

test('the CVV depends on card number, expiry, service code and key', () => {
  const values = new Set<string>()
  for (let month = 1; month <= 12; month += 1) {
    const expiry = `28${String(month).padStart(2, '0')}`
    for (const service_code of ['000', '101', '999']) {
      const value = computeCvv(key_pair, { ...input, expiry, service_code })
      assert.match(value, /^\d{3}$/)
      values.add(value)
    }
  }
  assert.ok(values.size > 20, 'the values spread')
  const other_key = Buffer.from('FEDCBA98765432100123456789ABCDEF', 'hex')
  assert.notEqual(computeCvv(other_key, input), '561')
  assert.notEqual(computeCvv(key_pair, { ...input, pan: '4123456789012346' }), '561')
})

test('card numbers of every valid length work', () => {
  for (let length = 12; length <= 19; length += 1) {
    assert.match(computeCvv(key_pair, { ...input, pan: '4'.repeat(length) }), /^\d{3}$/)
  }
})

test('only the correct CVV is valid', () => {
  assert.ok(isValidCvv(key_pair, input, '561'))
  for (const wrong of ['', '56', '562', '5611', '٥٦١', ' 561']) {
    assert.equal(isValidCvv(key_pair, input, wrong), false)
  }
})
