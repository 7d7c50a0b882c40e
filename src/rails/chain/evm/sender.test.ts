import assert from 'node:assert/strict'
import { Readable } from 'node:stream'
import { test } from 'node:test'
import type { NodeFetch } from '#platform/http_client/node_fetch.ts'
import type { Chain } from '#rails/chain/chain.ts'
import { CHAIN_DEFAULTS } from '#rails/chain/chain_settings.ts'
import type { ChainReceipt, DepositSource } from '#rails/chain/deposit_source.ts'
import type { StoredTransfer } from '#rails/chain/sender.ts'
import { evmSender } from './sender.ts'

const settings = {
  ...CHAIN_DEFAULTS,
  chain: 'base',
  family: 'evm',
  url: 'http://node',
  chain_id: 1,
}
const txid = '11'.repeat(32)
const transfer: StoredTransfer = {
  ...{ txid, raw: '', signature: '', expires_at: null },
  ...{ from: 'ab'.repeat(20), nonce: 7n },
}

type Reply = { status: number; content: object }

/** A sender whose node has final block 100, this receipt and these replies to counts of nonces. */
function senderWith(receipt: ChainReceipt | null, replyAt: (tag: string) => Reply) {
  const counted: string[] = []
  const fetch: NodeFetch = async (_url, { body }) => {
    const { id, method, params } = JSON.parse(body)
    assert.equal(method, 'eth_getTransactionCount')
    const tag: string = params[1]
    counted.push(tag)
    const { status, content } = replyAt(tag)
    const text = JSON.stringify({ jsonrpc: '2.0', id, ...content })
    return { status, body: Readable.from([Buffer.from(text)]) }
  }
  const source = {
    finalized: async () => ({ number: 100, hash: '', timestamp_ms: 0 }),
    receipt: async () => receipt,
  } as unknown as DepositSource
  return { counted, sender: evmSender({ settings } as unknown as Chain, source, fetch) }
}

const usedSince = (block: number) => (tag: string) => {
  const isUsed = tag === 'latest' || Number(tag) >= block
  return { status: 200, content: { result: isUsed ? '0x8' : '0x7' } }
}

test('a transfer is dead once its nonce was used 20 blocks below the final one', async () => {
  for (const [block, outcome] of [
    [80, 'dead'],
    [81, 'unknown'],
  ] as const) {
    const { sender } = senderWith(null, usedSince(block))
    assert.deepEqual(await sender.lookup(transfer), { outcome })
  }
})

test('a transfer may still be mined if the node refuses to count at old blocks, in any way', async () => {
  const error = { code: -32_000, message: 'missing trie node' }
  for (const refusal of [
    { status: 200, content: { error } },
    { status: 400, content: { error } },
  ]) {
    const replyAt = (tag: string) => (tag === 'latest' ? usedSince(0)(tag) : refusal)
    const { sender } = senderWith(null, replyAt)
    assert.deepEqual(await sender.lookup(transfer), { outcome: 'unknown' })
  }
})

test('a node that does not respond decides nothing', async () => {
  const { sender } = senderWith(null, () => ({ status: 502, content: {} }))
  await assert.rejects(sender.lookup(transfer), /status 502/)
})

test('a transfer with a receipt needs no count', async () => {
  const receipt = { txid, ok: false, block_number: 100, block_hash: '', logs: [] }
  const { sender, counted } = senderWith(receipt, usedSince(0))
  const outcome = { outcome: 'final', result: 'reverted', block_number: 100 }
  assert.deepEqual([await sender.lookup(transfer), counted], [outcome, []])
})
