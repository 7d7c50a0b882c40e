import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Dependencies } from '#domain/context/context.ts'
import { makePaymentContext } from './make_payment_context.ts'

const x402 = {
  prices: new Map([['issue_card', 500_000n]]),
  rpc_url: 'http://127.0.0.1:9',
  key_file: null,
  facilitator_url: null,
}
const dependenciesWith = (fields: object) =>
  ({ settings: { x402: { ...x402, ...fields } } }) as unknown as Dependencies

test('no prices: no payment context', async () => {
  assert.equal(await makePaymentContext(dependenciesWith({ prices: new Map() })), null)
})

test('a remote facilitator needs no relayer, and a node only if one is configured', async () => {
  const facilitator_url = 'https://facilitator.example'
  const context = await makePaymentContext(dependenciesWith({ facilitator_url }))
  assert.equal(context?.relayer, null)
  assert.notEqual(context?.network, null)
  const bare = await makePaymentContext(dependenciesWith({ facilitator_url, rpc_url: null }))
  assert.equal(bare?.network, null)
})

test('prices without a facilitator and without a complete relayer do not start', async () => {
  for (const fields of [{}, { rpc_url: null, key_file: '/key' }]) {
    await assert.rejects(makePaymentContext(dependenciesWith(fields)), /no facilitator or relayer/)
  }
})
