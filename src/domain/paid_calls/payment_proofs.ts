import type { Proof } from '#domain/ledger/audit_books.ts'

/** Invariants between the books and the payments: each query returns the rows that violate one. */
export const payment_proofs: readonly Proof[] = [
  {
    name: 'each payment has the movements of its state, once and of its amount',
    sql: `select p.id, p.state, m.movements
            from x402_payments p
            left join lateral (
              select array_agg(movement order by movement) as movements,
                     bool_and(amount_micros = p.amount_micros) as is_exact
                from movements
               where account_id = coalesce(p.account_id, 'programme')
                 and reference_type = 'payment' and reference_id = p.id
                 and movement <> 'relayer_fee_paid') m on true
           where coalesce(m.movements, '{}') <> case
                   when p.state in ('settled', 'owed', 'refunding') then array['call_paid']
                   when p.state = 'spent' then array['call_earned', 'call_paid']
                   when p.state = 'credited' then array['call_credited', 'call_paid']
                   when p.state = 'refunded' then array['call_paid', 'call_refunded']
                   else '{}'::text[] end
              or m.is_exact = false`,
  },
  {
    name: 'each payment movement belongs to a payment',
    sql: `select m.account_id, m.id as movement_id
            from movements m
           where m.movement in ('call_paid', 'call_earned', 'call_credited', 'call_refunded',
                                'relayer_fee_paid')
             and not exists (select from x402_payments p
                              where p.id = m.reference_id
                                and m.account_id = case m.movement
                                      when 'relayer_fee_paid' then 'programme'
                                      else coalesce(p.account_id, 'programme') end)`,
  },
  {
    name: 'the prepaid purse equals the payments whose call is still owed',
    sql: `select prepaid::text, open::text
            from (select coalesce(sum(amount_micros), 0) as prepaid
                    from entries where kind = 'prepaid') e,
                 (select coalesce(sum(amount_micros), 0) as open
                    from x402_payments where state in ('settled', 'owed', 'refunding')) p
           where prepaid <> open`,
  },
  {
    name: 'the gas purse equals the network fees of our transfers',
    sql: `select gas::text, fees::text
            from (select coalesce(sum(amount_micros), 0) as gas
                    from entries where kind = 'gas') e,
                 (select coalesce(sum(fee_micros), 0) as fees from x402_transfers) t
           where gas <> fees`,
  },
]
