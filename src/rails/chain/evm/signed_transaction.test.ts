import assert from 'node:assert/strict'
import { randomInt } from 'node:crypto'
import { test } from 'node:test'
import { bytesToHex } from '@noble/hashes/utils.js'
import fc from 'fast-check'
import {
  type Hex,
  keccak256,
  numberToHex,
  parseTransaction,
  type TransactionSerializable,
} from 'viem'
import { privateKeyToAccount } from 'viem/accounts'
import { rawTransactionOf, readSignedTransaction } from './signed_transaction.ts'

const seed = Number(process.env['FC_SEED'] ?? randomInt(2 ** 31 - 1))
const account = privateKeyToAccount(`0x${'17'.repeat(32)}`)
const from = account.address.slice(2).toLowerCase()
const to = `0x${'ab'.repeat(20)}` as const

const content = fc.record({
  nonce: fc.integer({ min: 0, max: 2 ** 40 }),
  chainId: fc.integer({ min: 1, max: 2 ** 40 }),
  value: fc.bigInt({ min: 0n, max: 10n ** 24n }),
  gas: fc.bigInt({ min: 0n, max: 30_000_000n }),
  data: fc.uint8Array({ maxLength: 200 }).map((one) => `0x${bytesToHex(one)}` as Hex),
})
const fees = fc.bigInt({ min: 1n, max: 10n ** 15n })
const accessList = [{ address: to, storageKeys: [`0x${'cd'.repeat(32)}` as const] }]
const kinds = [
  (gasPrice: bigint) => ({ type: 'legacy', gasPrice }) as const,
  (gasPrice: bigint) => ({ type: 'eip2930', gasPrice, accessList }) as const,
  (fee: bigint) =>
    ({ type: 'eip1559', maxFeePerGas: fee, maxPriorityFeePerGas: fee, accessList }) as const,
]
const transaction = fc
  .tuple(content, fees, fc.constantFrom(...kinds), fc.boolean())
  .map(([fields, fee, kindOf, isCall]): TransactionSerializable & { nonce: number } => ({
    ...fields,
    ...kindOf(fee),
    ...(isCall && { to }),
  }))

/** As a node shows it in a block. */
function shownByNode(raw: Hex): Record<string, unknown> {
  const { type, data, gas, to: target, accessList: list, ...fields } = parseTransaction(raw)
  const numbers = Object.entries({ gas, ...fields })
    .filter(([name]) => name !== 'r' && name !== 's')
    .map(([name, value]) => [name, numberToHex(BigInt((value as bigint | undefined) ?? 0))])
  const trim = (word: unknown) => numberToHex(BigInt(String(word)))
  return {
    ...Object.fromEntries(numbers),
    r: trim(fields.r),
    s: trim(fields.s),
    v: numberToHex(type === 'legacy' ? (fields.v ?? 0n) : (fields.yParity ?? 0)),
    type: numberToHex(['legacy', 'eip2930', 'eip1559'].indexOf(String(type))),
    hash: keccak256(raw),
    input: data ?? '0x',
    to: target ?? null,
    accessList: list ?? [],
  }
}

test('sender, chain and nonce are read from what stock clients sign, of each type', async (t) => {
  t.diagnostic(`seed ${seed}`)
  await fc.assert(
    fc.asyncProperty(transaction, async (one) => {
      const raw = await account.signTransaction(one)
      const read = readSignedTransaction(raw.slice(2))
      assert.deepEqual(
        [read?.from, read?.chain_id, read?.nonce],
        [from, BigInt(one.chainId ?? 0), BigInt(one.nonce)],
      )
      assert.equal(rawTransactionOf(shownByNode(raw)), raw.slice(2))
    }),
    { seed, numRuns: 100 },
  )
})

test('a signature without a chain, another type and malformed bytes prove nothing', async () => {
  const fields = { nonce: 5, gas: 21_000n, gasPrice: 1n, to, value: 1n } as const
  const unbound = await account.signTransaction({ ...fields, type: 'legacy' })
  assert.equal(readSignedTransaction(unbound.slice(2)), null)
  const bound = (await account.signTransaction({ ...fields, type: 'legacy', chainId: 1 })).slice(2)
  assert.equal(readSignedTransaction(bound)?.from, from)
  const wrong = [
    '03',
    'c0',
    'ff',
    'f8',
    bound.slice(0, -2),
    `${bound}00`,
    `04${bound}`,
    `02${bound}`,
  ]
  for (const raw of wrong) assert.equal(readSignedTransaction(raw), null, raw)
})

test('fields that are not those of the hash give no bytes', async () => {
  const fields = { nonce: 5, gas: 21_000n, to, value: 1n, chainId: 1, type: 'eip1559' } as const
  const shown = shownByNode(await account.signTransaction({ ...fields, maxFeePerGas: 9n }))
  assert.notEqual(rawTransactionOf(shown), null)
  assert.equal(rawTransactionOf({ ...shown, value: '0x2' }), null)
  assert.equal(rawTransactionOf({ ...shown, type: '0x4' }), null)
})
