import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Chain } from '#rails/chain/chain.ts'
import { DEFAULT_SPEND_LIMITS } from '#settings/spend_limit_settings.ts'
import {
  isHeldBySuspension,
  requireAddress,
  requireWithdrawalAmount,
  requireWithinDay,
  type WithdrawalRow,
  withdrawalView,
} from './withdrawal.ts'

const NOW = new Date('2031-03-04T05:06:07.000Z')

const withdrawal: WithdrawalRow = {
  account_id: 'acct_1',
  id: 'wd_1',
  refund_of: null,
  asset: 'USDT',
  chain: 'tron',
  address: 'T1',
  amount_micros: 20_000_001n,
  fee_micros: 1_000_000n,
  status: 'pending',
  status_reason: null,
  step: 'reserved',
  attempt: 1,
  txid: 'aa',
  block_number: null,
  approval: '',
  next_try_at: NOW,
  metadata: {},
  version: 1n,
  created_at: NOW,
  updated_at: NOW,
  broadcasted_at: null,
  completed_at: null,
  head_number: null,
  account_status: 'active',
}
const view = (fields: Partial<WithdrawalRow>) => withdrawalView({ ...withdrawal, ...fields })
const STEPS = ['review', 'reserved', 'signed', 'completed', 'failed'] as const

test('shows the net amount, and the txid only once the transfer was sent', () => {
  const { amount_usd, fee_usd, net_usd, txid } = view({})
  assert.deepEqual([amount_usd, fee_usd, net_usd, txid], [20.000001, 1, 19.000001, null])
  assert.equal(view({ broadcasted_at: NOW }).txid, 'aa')
})

test('confirmations count the block of the transfer as the first, and are never negative', () => {
  const confirmations = (block_number: bigint | null, head_number: bigint | null) =>
    view({ block_number, head_number }).confirmations
  assert.deepEqual(
    [
      confirmations(null, 9n),
      confirmations(9n, null),
      confirmations(9n, 8n),
      confirmations(9n, 9n),
      confirmations(9n, 27n),
    ],
    [0, 0, 0, 1, 19],
  )
})

test('a suspension holds unsigned withdrawals, but not refunds of deposits', () => {
  const held = STEPS.flatMap((step) =>
    ([null, 'bal_1'] as const).flatMap((refund_of) =>
      (['active', 'suspended'] as const).map((account_status) => ({
        ...withdrawal,
        step,
        refund_of,
        account_status,
      })),
    ),
  ).filter(isHeldBySuspension)
  assert.deepEqual(
    held.map(({ step, refund_of, account_status }) => [step, refund_of, account_status]),
    [
      ['review', null, 'suspended'],
      ['reserved', null, 'suspended'],
    ],
  )
  for (const one of held) {
    assert.equal(withdrawalView(one).status_reason, 'account_suspended')
  }
})

test('accepts amounts from the minimum to the maximum, if they exceed the fee', () => {
  const amount = (usd: number, limits = {}) =>
    requireWithdrawalAmount(usd, { ...DEFAULT_SPEND_LIMITS, ...limits })
  assert.deepEqual([amount(10), amount(25_000)], [10_000_000n, 25_000_000_000n])
  for (const usd of [0, 9.999999, 25_000.000001]) {
    assert.throws(() => amount(usd), { code: 'amount_out_of_range' }, String(usd))
  }
  const high_fee = { withdrawal_fee_usd: 12 }
  const message = 'A withdrawal must be between $12.000001 and $25,000.00.'
  assert.throws(() => amount(12, high_fee), { code: 'amount_out_of_range', message })
  assert.equal(amount(12.000001, high_fee), 12_000_001n)
})

test('the daily limit includes its last micro-dollar', () => {
  requireWithinDay(50_000_000_000n, DEFAULT_SPEND_LIMITS)
  assert.throws(() => requireWithinDay(50_000_000_001n, DEFAULT_SPEND_LIMITS), {
    code: 'amount_out_of_range',
  })
})

test('refuses unreadable and zero addresses, asset contracts and the hot wallet', () => {
  const [good, contract, hot_wallet] = ['a1', 'c1', 'b1'].map((pair) => pair.repeat(20))
  const chain = {
    name: 'tron',
    assets: [{ asset: 'USDT', contract }],
    hot_wallets: [hot_wallet],
    readAddress: (text: string) => (text === 'unreadable' ? null : text),
  } as unknown as Chain
  assert.equal(requireAddress(chain, good ?? ''), good)
  for (const address of ['unreadable', '0'.repeat(40), contract ?? '', hot_wallet ?? '']) {
    assert.throws(() => requireAddress(chain, address), { code: 'invalid_address' }, address)
  }
})
