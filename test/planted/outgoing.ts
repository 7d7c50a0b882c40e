import type { PlantedBug } from './planted_bug.ts'

const signature = {
  file: 'src/domain/webhooks/signature.ts',
  tests: ['src/domain/webhooks/signature.test.ts'],
}
const schedule = {
  file: 'src/domain/webhooks/schedule.ts',
  tests: ['src/domain/webhooks/schedule.test.ts'],
}
const deliveries = {
  file: 'src/domain/webhooks/delivery_store.ts',
  tests: ['src/domain/webhooks/delivery_store.test.ts'],
}
const payments = {
  file: 'src/domain/paid_calls/payment_store.ts',
  tests: ['src/domain/paid_calls/payment_store.test.ts', 'src/domain/paid_calls/collect.test.ts'],
}
const payment_money = {
  file: 'src/domain/paid_calls/payment_money.ts',
  tests: ['src/domain/paid_calls/payment_money.test.ts'],
}
const paid = {
  file: 'src/operations/perform/with_payment.ts',
  tests: ['test/stories/paid_calls.long.test.ts'],
}
const x402 = { file: 'src/rails/x402/payment.ts', tests: ['src/rails/x402/payment.test.ts'] }
const history = {
  file: 'src/domain/balance/get_balance_history.ts',
  tests: ['src/domain/balance/get_balance_history.test.ts'],
}

/** Webhooks, payments for calls and statements. */
export const outgoing: readonly PlantedBug[] = [
  {
    ...signature,
    name: 'signature_without_time',
    find: '.update(`${t}.`)',
    replace: '',
    breaks: 'A webhook signature covers the time of the attempt.',
  },
  {
    ...signature,
    name: 'signature_of_old_secret',
    file: 'src/domain/webhooks/webhook.ts',
    find: '(previous_secret_expires_at ?? now) > now',
    replace: '(previous_secret_expires_at ?? now) >= now',
    breaks: 'A rotated secret signs no longer than its grace period.',
    tests: ['src/domain/webhooks/attempt.test.ts'],
  },
  {
    ...schedule,
    name: 'retry_delay',
    find: 'DELAYS_MS[attempts - 1]',
    replace: 'DELAYS_MS[attempts]',
    breaks: 'A delivery gets ten attempts on the schedule of the contract.',
  },
  {
    ...schedule,
    name: 'retry_after_shortens',
    find: 'Math.max(jittered_ms, requested_ms)',
    replace: '(requested_ms || jittered_ms)',
    breaks: 'Retry-After never shortens the delay.',
  },
  {
    ...schedule,
    name: 'retry_after_redirect',
    file: 'src/domain/webhooks/attempt.ts',
    find: 'response.status < 300',
    replace: 'response.status < 400',
    breaks: 'A redirect is a failed delivery.',
    tests: ['src/domain/webhooks/attempt.test.ts'],
  },
  {
    ...deliveries,
    name: 'delivery_lease',
    find: 'update deliveries d set next_attempt_at = $9',
    replace: 'update deliveries d set next_attempt_at = $8',
    breaks: 'A delivery that one node sends is not sent by another.',
  },
  {
    ...deliveries,
    name: 'delivery_inserted_due',
    find: 'case when is_leased then $6::timestamptz',
    replace: 'case when is_leased then $5::timestamptz',
    breaks: 'A delivery that the node of the fan-out sends is not sent by another.',
  },
  {
    ...deliveries,
    name: 'delivery_outcome_of_old_lease',
    find: 'and m.next_attempt_at is not null and d.attempts = m.attempts\n',
    replace: 'and m.next_attempt_at is not null\n',
    breaks: 'The late outcome of an expired lease counts no attempt.',
  },
  {
    ...deliveries,
    name: 'delivery_released_after_attempt',
    find: 'd.webhook_id = l.webhook_id and d.attempts = l.attempts`',
    replace: 'd.webhook_id = l.webhook_id`',
    breaks: 'A stopping node does not make a delivery due again that another has attempted.',
  },
  {
    ...deliveries,
    name: 'delivery_before_subscription',
    find: 'w.after_sequence < e.sequence',
    replace: 'w.after_sequence <= e.sequence',
    breaks: 'A webhook gets no event from before its creation.',
    tests: ['src/domain/webhooks/create_webhook.test.ts'],
  },
  {
    ...payments,
    name: 'payment_leased_twice',
    find: 'where p.leased_until <= excluded.updated_at\n        and (p.state',
    replace: 'where (p.state',
    breaks: 'One payment serves one call at a time.',
  },
  {
    ...payments,
    name: 'payment_for_other_request',
    find: 'and p.fingerprint = excluded.fingerprint\n',
    replace: '\n',
    breaks: 'A settled payment pays for its own request only.',
  },
  {
    ...payments,
    name: 'payment_of_other_call',
    find: 'where id = $1 and request_id = $2 and state = any($3)',
    replace: 'where id = $1 and $2 <> $5 and state = any($3)',
    breaks: 'A call cannot change a payment that another call has taken.',
  },
  {
    ...payments,
    name: 'payment_spent_twice',
    find: 'where id = $1 and request_id = $2 and state = any($3)',
    replace: `where id = $1 and request_id = $2 and (state = any($3) or state = 'spent')`,
    breaks: 'A payment is spent once.',
    tests: ['src/domain/paid_calls/payment_money.test.ts'],
  },
  {
    ...payments,
    name: 'payment_nonce_of_relayer',
    find: 'sign(next > mined ? next : mined)',
    replace: 'sign(mined)',
    breaks: 'Transfers of the relayer neither share nor skip a nonce.',
  },
  {
    ...payments,
    name: 'payment_fee_booked_twice',
    find: `where txid = $1 and state = 'signed'`,
    replace: 'where txid = $1',
    breaks: 'The fee of a transfer is booked once.',
  },
  {
    ...payment_money,
    name: 'payment_fee_rounded_down',
    find: '(fee_wei * price + WEI_PER_COIN - 1n) / WEI_PER_COIN',
    replace: '(fee_wei * price) / WEI_PER_COIN',
    breaks: 'A fee is never booked as zero.',
  },
  {
    ...payment_money,
    name: 'payment_fee_of_account',
    find: '{ ...row, account_id: null, amount_micros: mined.fee_micros }',
    replace: '{ ...row, amount_micros: mined.fee_micros }',
    breaks: 'The fee of a transfer is the cost of the operator.',
  },
  {
    ...payment_money,
    name: 'payment_credited_twice',
    find: `{ from: ['owed'], to: 'credited' }`,
    replace: `{ from: ['owed', 'credited'], to: 'credited' }`,
    breaks: 'A payment that was not needed is credited once.',
  },
  {
    ...payment_money,
    name: 'payment_refunded_without_movement',
    find: `if (!(await stepPayment(tx, row, step, stamp.now))) return\n`,
    replace: `if (await stepPayment(tx, row, step, stamp.now)) return\n`,
    breaks: 'A refund to the payer is booked.',
  },
  {
    ...x402,
    name: 'payment_signed_for_less',
    find: 'accepted.amount !== asked.amount || value !== asked.amount',
    replace: 'accepted.amount !== asked.amount',
    breaks: 'The signed amount of a payment is the price.',
  },
  {
    ...x402,
    name: 'payment_signed_for_other',
    find: ' || !sameAddress(to, asked.payTo)) {',
    replace: ') {',
    breaks: 'The signed receiver of a payment is ours.',
  },
  {
    ...paid,
    name: 'payment_kept_after_refusal',
    find: 'onRefusal: (tx, { code }) => owe(tx, payment, code, runtime.clock.now()),',
    replace: 'onRefusal: async () => undefined,',
    breaks: 'The money of a refused call returns.',
  },
  {
    name: 'payment_doubt_final',
    file: 'src/rails/x402/remote_facilitator.ts',
    find: `UNUSABLE.has(reason) ? 'failed' : 'doubtful'`,
    replace: `'failed'`,
    breaks: 'A payment that a remote facilitator may have sent is looked up again.',
    tests: ['src/domain/paid_calls/collect.test.ts'],
  },
  {
    name: 'payment_sent_after_it_failed',
    file: 'src/domain/paid_calls/collect.ts',
    find: 'if (await stepPayment(db, row, step, clock.now())) return\n',
    replace: 'if ((await stepPayment(db, row, step, clock.now())) !== null) return\n',
    breaks: 'A payment that was given up is not sent.',
    tests: ['src/domain/paid_calls/collect.test.ts'],
  },
  {
    name: 'payment_without_screening',
    file: 'src/domain/paid_calls/collect.ts',
    find: `if (decision !== 'allow') {`,
    replace: `if (decision === 'review') {`,
    breaks: 'A payment from a blocked address is refused.',
    tests: ['src/domain/paid_calls/collect.test.ts'],
  },
  {
    ...history,
    name: 'statement_sign',
    find: `point.from_kind === 'treasury'`,
    replace: `point.from_kind !== 'treasury'`,
    breaks: 'A statement shows debits as negative amounts.',
  },
  {
    ...history,
    name: 'statement_balance_of_other_side',
    file: 'src/domain/ledger/treasury_history.ts',
    find: `case from_kind when 'treasury' then from_balance_micros
                                   else to_balance_micros end`,
    replace: `coalesce(to_balance_micros, from_balance_micros)`,
    breaks: 'Each line of a statement shows the balance after it.',
  },
  {
    ...history,
    name: 'statement_with_card_movements',
    file: 'src/domain/ledger/treasury_history.ts',
    find: "where: [...where, [`(from_kind = 'treasury' or to_kind = 'treasury')`]],",
    replace: 'where,',
    breaks: 'A statement shows the movements of the treasury only.',
  },
]
