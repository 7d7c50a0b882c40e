import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { ChainSender, StoredTransfer, TransferFate } from '#rails/chain/sender.ts'
import { findFate, isStuck, type SentTransferRow, toStoredTransfer } from './sent_transfers.ts'

const NOW = new Date('2031-03-04T05:06:07.000Z')
const FROM = 'ab'.repeat(20)

const attemptOf = (attempt: number, fields: Partial<SentTransferRow> = {}): SentTransferRow => ({
  attempt,
  txid: `0x${attempt}`,
  raw: 'raw',
  signature: 'signature',
  expires_at: null,
  nonce: 5n,
  created_at: NOW,
  ...fields,
})

/** A node that knows these transfers by txid, without 0x. */
const nodeWith = (fates: Record<string, TransferFate>) =>
  ({
    lookup: async ({ txid, from }: StoredTransfer) => {
      assert.equal(from, FROM)
      return fates[txid] ?? { fate: 'unknown' }
    },
  }) as unknown as ChainSender

test('any attempt in a block decides the fate, an older one too', async () => {
  const attempts = [attemptOf(3), attemptOf(2), attemptOf(1)]
  for (const fate of ['mined', 'final'] as const) {
    for (const result of ['success', 'reverted', 'mismatch'] as const) {
      const mined = { fate, result, block_number: 7 }
      const node = nodeWith({ '1': mined, '3': { fate: 'dead' } })
      assert.deepEqual(await findFate(node, FROM, attempts), { ...mined, txid: '0x1' })
    }
  }
})

test('without a block the newest attempt decides: a dead older one may be replaced', async () => {
  const attempts = [attemptOf(2), attemptOf(1)]
  const alive = nodeWith({ '1': { fate: 'dead' } })
  assert.deepEqual(await findFate(alive, FROM, attempts), { fate: 'unknown' })
  const dead = nodeWith({ '2': { fate: 'dead' } })
  assert.deepEqual(await findFate(dead, FROM, attempts), { fate: 'dead' })
})

test('a payment without a signed transfer has no fate', async () => {
  await assert.rejects(findFate(nodeWith({}), FROM, []), /a signed payment has its signed bytes/)
})

test('a transfer is stuck after bump_after_seconds, and only if it has a nonce', () => {
  const chain_sender = { chain: { settings: { bump_after_seconds: 60 } } } as unknown as ChainSender
  const after = (ms: number) => new Date(NOW.getTime() + ms)
  assert.equal(isStuck(chain_sender, attemptOf(1), after(59_999)), false)
  assert.equal(isStuck(chain_sender, attemptOf(1), after(60_000)), true)
  assert.equal(isStuck(chain_sender, attemptOf(1, { nonce: null }), after(10 ** 9)), false)
})

test('the node gets the txid without 0x and the sender', () => {
  const { txid, from, nonce } = toStoredTransfer(FROM, attemptOf(1))
  assert.deepEqual([txid, from, nonce], ['1', FROM, 5n])
})
