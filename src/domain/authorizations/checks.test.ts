import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { CardState, ChallengeState } from './card_state.ts'
import { type CheckInput, findObjections, isExpired } from './checks.ts'
import type { CardRequest } from './request.ts'

const NOW = new Date('2026-11-15T12:00:00.000Z')
const DOLLAR = 1_000_000n

const card: CardState = {
  account_id: 'acct',
  id: 'card',
  brand: 'visa',
  status: 'active',
  last4: '1234',
  exp_month: 12,
  exp_year: 2029,
  mcc_allow: null,
  mcc_deny: null,
  geo_allow: null,
  geo_deny: null,
  usage: 'reusable',
  merchant_lock_name: null,
  merchant_lock_id: null,
  valid_until: null,
  cancel_reason: null,
  pan_hash: 'hash',
  is_suspended: false,
  limits: { per_transaction: 100n * DOLLAR, daily: 200n * DOLLAR, monthly: 300n * DOLLAR },
  spent: { card_id: 'card', day: '2026-11-15', daily: 0n, monthly: 0n },
  failed_at: [],
}

const request: CardRequest = {
  kind: 'authorize',
  link: 'ascii',
  identity: 'identity',
  fingerprint: '',
  pan_hash: 'hash',
  charge: { minor: 1_000n, currency: 'USD', micros: 10n * DOLLAR, fx_rate: null },
  merchant: {
    merchant_name: 'Shop',
    mcc: '5732',
    merchant_city: null,
    merchant_country: 'US',
    merchant_id: null,
    terminal_id: null,
  },
  entry: { entry_mode: 'ecommerce', card_present: false, wallet: null },
  expiry: '2912',
  isCodeRight: () => true,
  has_pin: false,
  is_type_supported: true,
  is_partial_ok: false,
  challenge_id: null,
  reference: {
    transaction_id: null,
    original_identity: null,
    original_prefix: null,
    retrieval_reference_number: null,
    authorization_code: null,
  },
  replacement_minor: null,
  is_final: false,
  is_early: false,
  network_transaction_id: null,
  settles: null,
  received_at: NOW,
  deadline_ms: Number.POSITIVE_INFINITY,
  message: null,
  answer: () => {
    throw new Error('checks send no response')
  },
  restore: (bytes) => bytes,
}

const challenge: ChallengeState = {
  account_id: 'acct',
  id: 'chg',
  card_id: 'card',
  status: 'approved',
  amount_minor: 1_000n,
  currency: 'USD',
  merchant_name: 'Shop',
  merchant_id: null,
  decided_at: NOW,
  used_by: null,
}

type SituationFields = Partial<Omit<CheckInput, 'request' | 'card'>> & {
  request?: Partial<CardRequest>
  card?: Partial<CardState>
}

function objections({ request: asked, card: own, ...others }: SituationFields): string[] {
  return findObjections({
    now: NOW,
    is_paused: false,
    is_reversed: false,
    challenge: null,
    incremented: 0n,
    available: 100n * DOLLAR,
    owed: 0n,
    ...others,
    request: { ...request, ...asked },
    card: { ...card, ...own },
  })
}

const usd = (dollars: bigint) => ({
  charge: { minor: dollars * 100n, currency: 'USD', micros: dollars * DOLLAR, fx_rate: null },
})

test('a valid purchase meets no objection', () => {
  assert.deepEqual(objections({}), [])
})

const LOCKED = { usage: 'merchant_locked', merchant_lock_name: 'Another Shop' } as const

const each: [string, SituationFields][] = [
  ['reversed_before_auth', { is_reversed: true }],
  ['programme_paused', { is_paused: true }],
  ['card_cancelled', { card: { status: 'cancelled' } }],
  ['account_suspended', { card: { is_suspended: true } }],
  ['card_frozen', { card: { status: 'frozen' } }],
  ['card_expired', { card: { exp_year: 2020 }, request: { expiry: '2012' } }],
  ['expiry_mismatch', { request: { expiry: '3001' } }],
  ['cvv_mismatch', { request: { isCodeRight: () => false } }],
  ['verification_attempts_exceeded', { card: { failed_at: Array(5).fill(NOW) } }],
  ['pin_not_supported', { request: { has_pin: true } }],
  ['transaction_type_not_allowed', { request: { is_type_supported: false } }],
  ['invalid_amount', { request: usd(0n) }],
  ['country_blocked', { card: { geo_deny: ['US'] } }],
  ['mcc_blocked', { card: { mcc_allow: ['5811-5814'] } }],
  ['merchant_blocked', { card: LOCKED }],
  ['limit_per_transaction', { request: usd(101n), available: 500n * DOLLAR }],
  ['limit_daily', { card: { spent: { ...card.spent, daily: 195n * DOLLAR, monthly: 0n } } }],
  ['limit_monthly', { card: { spent: { ...card.spent, monthly: 295n * DOLLAR } } }],
  ['three_ds_failed', { challenge: { ...challenge, status: 'declined' } }],
  ['insufficient_funds', { available: 9n * DOLLAR }],
]

for (const [code, given] of each) {
  test(`${code} is the only objection`, () => {
    assert.deepEqual(objections(given), [code])
  })
}

/** These exclude one of the others. */
const ABSENT = new Set(['card_frozen', 'invalid_amount', 'verification_attempts_exceeded'])

test('all objections are found, in the order of the contract', () => {
  const found = objections({
    is_reversed: true,
    is_paused: true,
    available: 0n,
    request: {
      ...usd(1_000n),
      isCodeRight: () => false,
      expiry: '3001',
      has_pin: true,
      is_type_supported: false,
    },
    challenge: { ...challenge, status: 'declined' },
    card: {
      status: 'cancelled',
      is_suspended: true,
      exp_year: 2020,
      geo_deny: ['US'],
      mcc_deny: ['5732'],
      ...LOCKED,
    },
  })
  const order = each.map(([code]) => code)
  assert.deepEqual(
    found,
    order.filter((code) => !ABSENT.has(code)),
  )
})

test('limits and funds include their last micro-dollar', () => {
  const at_edge = {
    card: { spent: { ...card.spent, daily: 190n * DOLLAR, monthly: 290n * DOLLAR } },
  }
  assert.deepEqual(objections({ ...at_edge, available: 10n * DOLLAR }), [])
  const beyond = {
    card: { spent: { ...card.spent, daily: 190n * DOLLAR + 1n, monthly: 290n * DOLLAR + 1n } },
  }
  assert.deepEqual(objections({ ...beyond, available: 10n * DOLLAR - 1n }), [
    'limit_daily',
    'limit_monthly',
    'insufficient_funds',
  ])
})

test('the per-transaction limit covers a purchase with its increments', () => {
  assert.deepEqual(objections({ incremented: 90n * DOLLAR }), [])
  assert.deepEqual(objections({ incremented: 90n * DOLLAR + 1n }), ['limit_per_transaction'])
})

test('a limit of zero blocks payments, but not verifications and credits', () => {
  const limits = { per_transaction: 0n, daily: 0n, monthly: 0n }
  const blocked = objections({ card: { limits } })
  assert.deepEqual(blocked, ['limit_per_transaction', 'limit_daily', 'limit_monthly'])
  assert.deepEqual(objections({ card: { limits }, request: { kind: 'verify', ...usd(0n) } }), [])
  assert.deepEqual(objections({ card: { limits }, request: { kind: 'credit' } }), [])
})

test('an amount in a balance inquiry or a verification is not paid, so nothing limits it', () => {
  const limits = { per_transaction: 0n, daily: 0n, monthly: 0n }
  const charges = [
    usd(10n).charge,
    { minor: 1_000n, currency: 'EUR', micros: null, fx_rate: null },
    { minor: 0n, currency: null, micros: 0n, fx_rate: null },
  ]
  for (const kind of ['balance', 'verify'] as const) {
    for (const charge of charges) {
      const poor = { card: { limits }, available: 0n, owed: 1n }
      assert.deepEqual(objections({ ...poor, request: { kind, charge } }), [])
    }
  }
})

test('an account with a debt cannot spend, whatever the card balance', () => {
  assert.deepEqual(objections({ owed: 1n }), ['insufficient_funds'])
})

test('five failed attempts block entry by number for a day, and no other entry mode', () => {
  const failed_at = Array(5).fill(new Date(NOW.getTime() - 86_399_999))
  for (const entry_mode of ['keyed', 'ecommerce', 'credential_on_file'] as const) {
    for (const card_present of [true, false]) {
      const entry = { entry_mode, card_present, wallet: null }
      const found = objections({ card: { failed_at }, request: { entry } })
      assert.deepEqual(found, ['verification_attempts_exceeded'])
    }
  }
  for (const entry_mode of ['chip', 'contactless', 'swipe'] as const) {
    const entry = { entry_mode, card_present: true, wallet: null }
    assert.deepEqual(objections({ card: { failed_at }, request: { entry } }), [])
  }
  const long_ago = Array(5).fill(new Date(NOW.getTime() - 86_400_000))
  assert.deepEqual(objections({ card: { failed_at: long_ago } }), [])
})

test('after too many attempts neither CVV nor expiry is evaluated', () => {
  const isCodeRight = () => assert.fail('the code was evaluated')
  const failed_at = Array(5).fill(NOW)
  const wrong = objections({ card: { failed_at }, request: { isCodeRight, expiry: '3001' } })
  assert.deepEqual(wrong, ['verification_attempts_exceeded'])
  const entry = { entry_mode: 'chip', card_present: true, wallet: null } as const
  assert.deepEqual(objections({ card: { failed_at }, request: { isCodeRight, entry } }), [])
})

test('a present card with a wrong expiry date is declined even after too many attempts', () => {
  const entry = { entry_mode: 'chip', card_present: true, wallet: null } as const
  const failed_at = Array(5).fill(NOW)
  const wrong = objections({ card: { failed_at }, request: { entry, expiry: '3001' } })
  assert.deepEqual(wrong, ['expiry_mismatch'])
})

test('a purchase that converts to less than a micro-dollar is declined', () => {
  const charge = { minor: 1n, currency: 'IDR', micros: 0n, fx_rate: '0.00000001' }
  assert.deepEqual(objections({ request: { charge } }), ['invalid_amount'])
})

test('an unknown currency or a missing USD amount is declined', () => {
  for (const currency of [null, 'EUR']) {
    const charge = { minor: 1_000n, currency, micros: null, fx_rate: null }
    assert.deepEqual(objections({ request: { charge } }), ['currency_not_supported'])
  }
})

test('a declined, pending or expired challenge declines the purchase', () => {
  assert.deepEqual(objections({ challenge }), [])
  const outcomes = [
    ['declined', 'three_ds_failed'],
    ['pending', 'three_ds_timeout'],
    ['expired', 'three_ds_timeout'],
  ] as const
  for (const [status, code] of outcomes) {
    assert.deepEqual(objections({ challenge: { ...challenge, status } }), [code])
  }
})

test('a card is valid until its month ends in the last time zone', () => {
  const own = { exp_month: 2, exp_year: 2028 }
  assert.equal(isExpired(own, new Date('2028-03-01T11:59:59.999Z')), false)
  assert.equal(isExpired(own, new Date('2028-03-01T12:00:00.000Z')), true)
  const december = { exp_month: 12, exp_year: 2027 }
  assert.equal(isExpired(december, new Date('2028-01-01T11:59:59.999Z')), false)
  assert.equal(isExpired(december, new Date('2028-01-01T12:00:00.000Z')), true)
})

test('a used single-use card declines as used, and is also cancelled', () => {
  const used = { usage: 'single_use', status: 'cancelled', cancel_reason: 'used' } as const
  assert.deepEqual(objections({ card: used }), ['card_used', 'card_cancelled'])
  const replaced = { ...used, cancel_reason: 'replaced' } as const
  assert.deepEqual(objections({ card: replaced }), ['card_cancelled'])
})

test('a card with a date of its own is valid until the last millisecond of that date', () => {
  assert.deepEqual(objections({ card: { valid_until: NOW } }), [])
  const before = new Date(NOW.getTime() - 1)
  assert.deepEqual(objections({ card: { valid_until: before } }), ['card_expired'])
})

test('a locked card compares the merchant by ID where both have one, otherwise by name', () => {
  const at = (merchant_lock_name: string, merchant_lock_id: string | null, id: string | null) =>
    objections({
      card: { usage: 'merchant_locked', merchant_lock_name, merchant_lock_id },
      request: { merchant: { ...request.merchant, merchant_id: id } },
    })
  assert.deepEqual(at('Renamed', 'M1', 'M1'), [])
  assert.deepEqual(at('Shop', 'M1', 'M2'), ['merchant_blocked'])
  assert.deepEqual(at('Shop', null, 'M2'), [])
  assert.deepEqual(at('Shop', 'M1', null), [])
  assert.deepEqual(at('  SHOP ', null, null), [])
  assert.deepEqual(at('Shops', 'M1', null), ['merchant_blocked'])
})
