import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { json } from 'node:stream/consumers'
import { type TestContext, test } from 'node:test'
import { nodeFetch } from '#platform/http_client/node_fetch.ts'
import { CHAIN_DEFAULTS, type ChainSettings } from './chain_settings.ts'
import { depositSource } from './deposit_source.ts'

const HEAD = 100
const FINALIZED = 60

const hashOf = (number: number) => `0x${number.toString(16).padStart(64, '0')}`

/** A node whose newest block is HEAD and whose finalized one is FINALIZED. */
async function sourceOf(t: TestContext, settings: Partial<ChainSettings>) {
  const server = createServer(async (request, response) => {
    const { id, params } = (await json(request)) as { id: number; params: [string] }
    const tags: Record<string, number> = { latest: HEAD, finalized: FINALIZED }
    const number = tags[params[0]] ?? Number(params[0])
    const block = { number: `0x${number.toString(16)}`, hash: hashOf(number), timestamp: '0x1' }
    const result = number > HEAD ? null : block
    response.end(JSON.stringify({ jsonrpc: '2.0', id, result }))
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.after(() => {
    server.closeAllConnections()
    server.close()
  })
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const chain = { ...CHAIN_DEFAULTS, chain: 'base', family: 'evm', url, ...settings }
  return depositSource(chain as ChainSettings, nodeFetch(5_000))
}

test('a block is final after exactly the configured confirmations, itself included', async (t) => {
  for (const [confirmations, expected] of [
    [1, HEAD],
    [12, 89],
    [100, 1],
    [101, 0],
    [500, 0],
  ] as const) {
    const source = await sourceOf(t, { finality: 'confirmations', confirmations })
    assert.equal((await source.finalized()).number, expected)
  }
})

test('on a chain with a finalized tag only that tag counts', async (t) => {
  const source = await sourceOf(t, { finality: 'finalized', confirmations: 1 })
  assert.equal((await source.finalized()).number, FINALIZED)
  assert.equal((await source.head()).number, HEAD)
})
