import { type Proof, usd } from '#domain/context/proof.ts'

/** Older payments are proven by `florin audit books`. */
const RECENT = `p.id > 'pay_' || id_time($1::timestamptz - interval '2 days')`

const EXPECTED = `case
  when p.state in ('settled', 'owed', 'refunding') then array['call_paid']
  when p.state = 'spent' then array['call_earned', 'call_paid']
  when p.state = 'credited' then array['call_credited', 'call_paid']
  when p.state = 'refunded' then array['call_paid', 'call_refunded']
  else '{}'::text[] end`

const IS_KEPT = `p.created_at >= (
  select coalesce(max(since), '-infinity') + interval '1 minute'
    from history_floors where history = 'money')`

const movementsOf = (which: string) => `
  select p.account_id, p.id,
         format('The payment is %s, with the movements %s.', p.state,
                coalesce(array_to_string(m.movements, ', '), 'none')) as sentence
    from (select * from x402_payments p where ${which} and ${IS_KEPT}) p
    left join lateral (
      select array_agg(movement order by movement) as movements,
             bool_and(amount_micros = p.amount_micros) as is_exact
        from movements
       where account_id = coalesce(p.account_id, 'programme')
         and id > 'bal_' || id_time(p.created_at - interval '10 seconds')
         and reference_type = 'payment' and reference_id = p.id
         and movement <> 'relayer_fee_paid') m on true
   where coalesce(m.movements, '{}') <> ${EXPECTED} or m.is_exact = false`

/** Invariants between the books and the payments: each query returns the rows that violate one. */
export const payment_proofs: readonly Proof[] = [
  {
    name: 'each recent payment has the movements of its state, once and of its amount',
    scope: 'program',
    sql: `${movementsOf(RECENT)} limit 1000`,
  },
  {
    name: 'each payment has the movements of its state, once and of its amount',
    scope: 'whole',
    sql: movementsOf('true'),
  },
  {
    name: 'each payment movement belongs to a payment',
    scope: 'whole',
    sql: `select m.account_id, m.id,
                 format('%s names the payment %s, which is missing.', m.movement, m.reference_id)
                   as sentence
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
    scope: 'whole',
    sql: `select null as account_id, 'prepaid' as id,
                 format('The prepaid purse has %s; open payments sum to %s.', ${usd('prepaid')},
                        ${usd('open')}) as sentence
            from (select coalesce(sum(amount_micros), 0) as prepaid
                    from entries where kind = 'prepaid') e,
                 (select coalesce(sum(amount_micros), 0) as open
                    from x402_payments where state in ('settled', 'owed', 'refunding')) p
           where prepaid <> open`,
  },
  {
    name: 'the gas purse equals the network fees of our transfers',
    scope: 'whole',
    sql: `select null as account_id, 'gas' as id,
                 format('The gas purse has %s; the fees of our transfers sum to %s.', ${usd('gas')},
                        ${usd('fees')}) as sentence
            from (select coalesce(sum(amount_micros), 0) as gas
                    from entries where kind = 'gas') e,
                 (select coalesce(sum(fee_micros), 0) as fees from x402_transfers) t
           where gas <> fees`,
  },
  {
    name: 'no payment stays unresolved for more than a day',
    scope: 'program',
    sql: `select account_id, id,
                 format('The payment is %s since %s.', state, updated_at) as sentence
            from x402_payments
           where state in ('reserved', 'settling', 'settled', 'owed', 'refunding')
             and leased_until < $1::timestamptz - interval '1 day'
           order by leased_until limit 1000`,
  },
]
