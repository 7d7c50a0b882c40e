import assert from 'node:assert/strict'
import { test } from 'node:test'
import { hasPaid, type Receipt } from './receipt.ts'

const payer = `0x${'aB'.repeat(20)}`
const pay_to = `0x${'cd'.repeat(20)}`
const paid = { payer, pay_to, amount_micros: 500_000n }
const receipt: Receipt = {
  txid: `0x${'11'.repeat(32)}`,
  ok: true,
  fee_wei: 1n,
  transfers: [{ from: payer.toLowerCase(), to: pay_to, value: 500_000n }],
}

test('a receipt with the exact transfer proves payment, in any address format', () => {
  assert.equal(hasPaid(receipt, paid), true)
})

test('no receipt, a revert, no transfer or another transfer proves nothing', () => {
  const other = (change: object) => ({
    ...receipt,
    transfers: receipt.transfers.map((transfer) => ({ ...transfer, ...change })),
  })
  const lies: (Receipt | null)[] = [
    null,
    { ...receipt, ok: false },
    { ...receipt, transfers: [] },
    other({ from: pay_to }),
    other({ to: payer }),
    other({ value: 499_999n }),
  ]
  for (const lie of lies) assert.equal(hasPaid(lie, paid), false)
})
