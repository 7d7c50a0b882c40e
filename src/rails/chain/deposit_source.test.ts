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

type RpcRequest = { id: number; method: string; params: [string] }

const hashOf = (number: number) => `0x${number.toString(16).padStart(64, '0')}`

/**
 * A node whose newest block is HEAD and whose finalized one is FINALIZED. It has these logs, and
 * returns them whatever it is asked for.
 */
async function sourceOf(t: TestContext, settings: Partial<ChainSettings>, logs: object[] = []) {
  const server = createServer(async (request, response) => {
    const { id, method, params } = (await json(request)) as RpcRequest
    const tags: Record<string, number> = { latest: HEAD, finalized: FINALIZED }
    const number = tags[params[0]] ?? Number(params[0])
    const block = { number: `0x${number.toString(16)}`, hash: hashOf(number), timestamp: '0x1' }
    const result = method === 'eth_getLogs' ? logs : number > HEAD ? null : block
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

const word = (digits: string) => `0x${digits.padStart(64, '0')}`
const address = (digits: string) => digits.repeat(40)
const TRANSFER = '0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef'
const APPROVAL = '0x8c5be1e5ebec7d5bd14f71427d1e84f3dd0314c0f7b2291e5b200ac8c7c3b925'

test('only a Transfer of an amount is read: no approval, no transfer of a numbered token', async (t) => {
  const [from, to] = [word(address('a')), word(address('b'))]
  const log = {
    ...{ address: `0x${address('c')}`, topics: [TRANSFER, from, to], data: word('ff') },
    ...{ transactionHash: hashOf(7), blockNumber: '0x5', blockHash: hashOf(5), logIndex: '0x0' },
  }
  const source = await sourceOf(t, {}, [
    { ...log, topics: [APPROVAL, from, to] },
    { ...log, topics: [TRANSFER, from, to, word('1')], data: '0x' },
    { ...log, data: `${word('ff')}${'0'.repeat(64)}` },
    log,
  ])
  const filter = { contracts: [address('c')], to: [address('b')] }
  const read = await source.logs({ from: 1, to: HEAD }, filter)
  assert.deepEqual(
    read.map(({ from, to, value }) => [from, to, value]),
    [[address('a'), address('b'), 255n]],
  )
})
