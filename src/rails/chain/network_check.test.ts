import assert from 'node:assert/strict'
import { test } from 'node:test'
import { checkedSender, WrongNetwork } from './network_check.ts'
import type { ChainSender } from './sender.ts'

const answers = {
  networkParameters: async () => ({ family: 'tron' }),
  missingFuel: async () => 7n,
  assetBalance: async () => 8n,
  lookup: async () => ({ outcome: 'dead' }),
} as unknown as ChainSender

test('a node of another network decides on no transfer', async () => {
  const wrong = checkedSender(answers, async () => {
    throw new WrongNetwork('another network')
  })
  for (const name of ['networkParameters', 'missingFuel', 'assetBalance', 'lookup'] as const) {
    await assert.rejects(wrong[name]({} as never), WrongNetwork, name)
  }
})

test('after the check, the node is asked', async () => {
  const right = checkedSender(answers, async () => undefined)
  assert.deepEqual(await right.lookup({} as never), { outcome: 'dead' })
  assert.equal(await right.missingFuel({} as never), 7n)
})
