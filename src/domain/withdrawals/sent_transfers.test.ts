import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { ChainSender, LookupOutcome, StoredTransfer } from '#rails/chain/sender.ts'
import { findOutcome, isStuck, type SentTransferRow, toStoredTransfer } from './sent_transfers.ts'

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
const nodeWith = (outcomes: Record<string, LookupOutcome>) =>
  ({
    lookup: async ({ txid, from }: StoredTransfer) => {
      assert.equal(from, FROM)
      return outcomes[txid] ?? { outcome: 'unknown' }
    },
  }) as unknown as ChainSender

test('any attempt in a block decides the outcome, an older one too', async () => {
  const attempts = [attemptOf(3), attemptOf(2), attemptOf(1)]
  for (const outcome of ['mined', 'final'] as const) {
    for (const result of ['success', 'reverted', 'mismatch'] as const) {
      const mined = { outcome, result, block_number: 7 }
      const node = nodeWith({ '1': mined, '3': { outcome: 'dead' } })
      assert.deepEqual(await findOutcome(node, FROM, attempts), { ...mined, txid: '0x1' })
    }
  }
})

test('without a block the newest attempt decides: a dead older one may be replaced', async () => {
  const attempts = [attemptOf(2), attemptOf(1)]
  const alive = nodeWith({ '1': { outcome: 'dead' } })
  assert.deepEqual(await findOutcome(alive, FROM, attempts), { outcome: 'unknown' })
  const dead = nodeWith({ '2': { outcome: 'dead' } })
  assert.deepEqual(await findOutcome(dead, FROM, attempts), { outcome: 'dead' })
})

test('a payment without a signed transfer has no outcome', async () => {
  await assert.rejects(findOutcome(nodeWith({}), FROM, []), /a signed payment has its signed bytes/)
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
