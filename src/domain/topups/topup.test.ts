import assert from 'node:assert/strict'
import { test } from 'node:test'
import { DEFAULT_SPEND_LIMITS } from '#settings/spend_limit_settings.ts'
import { bareTopupRow } from '#test/support/topups.ts'
import { requireCancellable, requireTopupAmount, type TopupRow, topupView } from './topup.ts'

const NOW = new Date('2031-03-04T05:06:07.000Z')

const topup = bareTopupRow({ created_at: NOW, expires_at: NOW })
const view = (fields: Partial<TopupRow>) => topupView({ ...topup, ...fields }, 19)

test('payment_state compares pending and final transfers with the expected amount', () => {
  const cases: [Partial<TopupRow>, string][] = [
    [{}, 'none'],
    [{ final_micros: 24_999_999n }, 'partial'],
    [{ final_micros: 25_000_000n }, 'exact'],
    [{ final_micros: 10_000_000n, pending_micros: 15_000_000n }, 'exact'],
    [{ final_micros: 25_000_000n, pending_micros: 1n }, 'over'],
    [{ final_micros: 25_000_000n, is_late: true }, 'late'],
    [{ is_late: true }, 'none'],
  ]
  for (const [fields, state] of cases) assert.equal(view(fields).payment_state, state)
})

test('received_usd counts pending transfers, credited_usd does not', () => {
  const { received_usd, credited_usd } = view({
    final_micros: 10_000_000n,
    pending_micros: 5_000_001n,
    credited_micros: 10_000_000n,
  })
  assert.deepEqual([received_usd, credited_usd], [15.000001, 10])
})

test('confirmations count the block of the last transfer as the first, and are never negative', () => {
  const confirmations = (last_block: bigint | null, head_number: bigint | null) =>
    view({ last_block, head_number }).confirmations
  assert.deepEqual(
    [
      confirmations(null, 10n),
      confirmations(10n, null),
      confirmations(10n, 9n),
      confirmations(10n, 10n),
      confirmations(10n, 28n),
    ],
    [0, 0, 0, 1, 19],
  )
})

test('the QR code is shown only while the top-up is awaiting; txid is the newest transfer', () => {
  const statuses = ['awaiting', 'confirming', 'completed', 'cancelled', 'error'] as const
  const shown = statuses.filter((status) => view({ status }).qr_data_uri !== null)
  assert.deepEqual(shown, ['awaiting'])
  assert.equal(view({ txids: ['aa', 'bb'] }).txid, 'bb')
  assert.equal(view({}).txid, null)
})

test('accepts amounts from the minimum to the maximum, both included', () => {
  const amount = (usd: number) => requireTopupAmount(usd, DEFAULT_SPEND_LIMITS)
  assert.deepEqual([amount(5), amount(50_000)], [5_000_000n, 50_000_000_000n])
  for (const usd of [0, 4.999999, 50_000.000001]) {
    assert.throws(() => amount(usd), { code: 'amount_out_of_range' }, String(usd))
  }
})

test('without a minimum, a top-up has at least one cent', () => {
  const amount = (usd: number) =>
    requireTopupAmount(usd, { ...DEFAULT_SPEND_LIMITS, topup_min_usd: 0 })
  assert.equal(amount(0.01), 10_000n)
  assert.throws(() => amount(0), { message: 'A top-up must be between $0.01 and $50,000.00.' })
})

test('only an awaiting top-up can be canceled', () => {
  requireCancellable(topup)
  for (const status of ['confirming', 'completed', 'cancelled', 'error'] as const) {
    assert.throws(() => requireCancellable({ ...topup, status }), { code: 'topup_not_cancellable' })
  }
})
