import assert from 'node:assert/strict'
import { Readable } from 'node:stream'
import { test } from 'node:test'
import { encodeEventTopics, type Hex, numberToHex, parseAbi } from 'viem'
import type { NodeFetch } from '#platform/http_client/node_fetch.ts'
import { paymentNetwork } from './relayer.ts'
import { CHAIN_ID, USDC } from './requirement.ts'

const abi = parseAbi([
  'event AuthorizationUsed(address indexed authorizer, bytes32 indexed nonce)',
  'event AuthorizationCanceled(address indexed authorizer, bytes32 indexed nonce)',
])
const payer: Hex = `0x${'ab'.repeat(20)}`
const nonce: Hex = `0x${'0d'.repeat(32)}`
const txid: Hex = `0x${'11'.repeat(32)}`
const HEAD = 200_000
const HEAD_AT = Date.parse('2026-11-01T00:00:00Z')
const hoursAgo = (hours: number) => new Date(HEAD_AT - hours * 3_600_000)

type Event = { eventName: 'AuthorizationUsed' | 'AuthorizationCanceled'; block: number }
type Filter = { fromBlock: Hex; toBlock: Hex; topics: [Hex] }

/** A node of Base on which the authorization is used, with its event or without any. */
function networkWith({ is_used, event }: { is_used: boolean; event?: Event }) {
  const searched: [number, number][] = []
  const findLogs = ({ fromBlock, toBlock, topics }: Filter) => {
    const [first, last] = [Number(fromBlock), Number(toBlock)]
    searched.push([first, last])
    if (event === undefined || event.block < first || event.block > last) return []
    const { eventName, block } = event
    const found = encodeEventTopics({ abi, eventName, args: { authorizer: payer, nonce } })
    if (found[0] !== topics[0]) return []
    const place = { blockNumber: numberToHex(block), blockHash: txid, transactionHash: txid }
    const indexes = { logIndex: '0x0', transactionIndex: '0x0', removed: false }
    return [{ address: USDC, topics: found, data: '0x', ...place, ...indexes }]
  }
  const answers: Record<string, (filter: Filter) => unknown> = {
    eth_chainId: () => numberToHex(CHAIN_ID),
    eth_blockNumber: () => numberToHex(HEAD),
    eth_call: () => numberToHex(is_used ? 1 : 0, { size: 32 }),
    eth_getBlockByNumber: () => {
      const timestamp = numberToHex(HEAD_AT / 1_000)
      return { number: numberToHex(HEAD), timestamp, transactions: [] }
    },
    eth_getLogs: findLogs,
  }
  const fetch: NodeFetch = async (_url, { body }) => {
    const { id, method, params } = JSON.parse(body)
    const result = answers[method]?.(params[0])
    const text = JSON.stringify({ jsonrpc: '2.0', id, result })
    return { status: 200, body: Readable.from([Buffer.from(text)]) }
  }
  return { searched, network: paymentNetwork('http://node', fetch) }
}

test('an unused authorization has no transaction, and no block is searched', async () => {
  const { network, searched } = networkWith({ is_used: false })
  assert.equal(await network.settlementOf(payer, nonce, hoursAgo(50)), null)
  assert.deepEqual(searched, [])
})

test('the transaction of a used authorization is found however long the service was away', async () => {
  for (const [hours, block] of [
    [0, HEAD],
    [2, HEAD - 3_000],
    [50, HEAD - 50 * 1_800],
  ] as const) {
    const event = { eventName: 'AuthorizationUsed', block } as const
    const { network, searched } = networkWith({ is_used: true, event })
    assert.equal(await network.settlementOf(payer, nonce, hoursAgo(hours)), txid)
    assert(searched.every(([first, last]) => last - first < 1_800))
    assert.equal(searched.length, Math.floor((HEAD - block) / 1_800) + 1)
  }
})

test('a canceled authorization counts as used, by the transaction that canceled it', async () => {
  const event = { eventName: 'AuthorizationCanceled', block: HEAD - 5 } as const
  const { network } = networkWith({ is_used: true, event })
  assert.equal(await network.settlementOf(payer, nonce, hoursAgo(1)), txid)
})

test('a used authorization without a transaction is an error, not an unused one', async () => {
  const { network, searched } = networkWith({ is_used: true })
  await assert.rejects(network.settlementOf(payer, nonce, hoursAgo(1)), /does not show which/)
  // A day before the payment is searched too.
  assert.equal(Math.min(...searched.map(([first]) => first)), HEAD - 25 * 1_800)
})
