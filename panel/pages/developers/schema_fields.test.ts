import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { OperationShape } from '#contract/operation.ts'
import { operations } from '#contract/operations.ts'
import { toCurl } from './code_examples.ts'
import { inputFields, parseFieldValue } from './schema_fields.ts'

const fieldOf = (shape: OperationShape, name: string) => {
  const field = inputFields(shape).find((each) => each.name === name)
  assert(field !== undefined, name)
  return field
}

test('each field of an operation gets the control of its type', () => {
  assert.equal(fieldOf(operations.load_card, 'amount_usd').kind, 'number')
  assert.equal(fieldOf(operations.sign_in, 'password').kind, 'secret')
  assert.equal(fieldOf(operations.create_webhook, 'events').kind, 'list')
  assert.equal(fieldOf(operations.issue_card, 'shipping').kind, 'json')
  assert.equal(fieldOf(operations.issue_card, 'type').kind, 'choice')
})

test('text is converted to the type of its field, and sent unchanged if it cannot be', () => {
  const amount = fieldOf(operations.load_card, 'amount_usd')
  assert.equal(parseFieldValue(amount, '12.50'), 12.5)
  assert.equal(parseFieldValue(amount, 'twelve'), 'twelve')
  assert.equal(parseFieldValue(amount, '  '), undefined)
  const events = fieldOf(operations.create_webhook, 'events')
  assert.deepEqual(parseFieldValue(events, 'card.frozen, , *'), ['card.frozen', '*'])
  const shipping = fieldOf(operations.issue_card, 'shipping')
  assert.deepEqual(parseFieldValue(shipping, '{"city":"London"}'), { city: 'London' })
  assert.equal(parseFieldValue(shipping, '{"city"'), '{"city"')
})

test('a curl example quotes its body for the shell and names missing path parameters', () => {
  const example = { name: 'load_card', input: { amount_usd: 5 }, origin: 'https://x.test' } as const
  assert.match(toCurl(example), /'https:\/\/x\.test\/v1\/cards\/ID\/load'/)
  const key = { name: 'create_api_key', input: { name: "Ada's" }, origin: '' } as const
  assert(toCurl(key).includes(`-d '{"name":"Ada'\\''s"}'`))
})
