import type { Proof } from '#domain/ledger/audit_books.ts'

/** Invariants between the books and the chains: each query returns the rows that violate one. */
export const chain_proofs: readonly Proof[] = [
  {
    name: 'each final transfer has exactly one movement of its amount',
    sql: `select t.chain, t.txid, t.ordinal, t.value_micros::text as value, m.id as movement_id
            from chain_transfers t
            left join movements m on m.account_id = t.account_id and m.id = t.movement_id
             and m.amount_micros = t.value_micros and m.reference_id = t.topup_id
             and m.movement = case when t.held_reason is null then 'topup_settled'
                                   else 'topup_suspended' end
           where m.id is null`,
  },
  {
    name: 'each movement from a chain has exactly one final transfer',
    sql: `select m.account_id, m.id as movement_id
            from movements m
           where m.movement in ('topup_settled', 'topup_suspended')
             and (select count(*) from chain_transfers t where t.movement_id = m.id) <> 1`,
  },
  {
    name: 'the amounts of a top-up are the sums of its transfers',
    sql: `select u.account_id, u.id
            from topups u
            left join (select account_id, topup_id, sum(value_micros) as final,
                              sum(value_micros) filter (where state in ('credited', 'released'))
                                as credited
                         from chain_transfers group by 1, 2) t
              on t.account_id = u.account_id and t.topup_id = u.id
           where u.final_micros <> coalesce(t.final, 0)
              or u.credited_micros <> coalesce(t.credited, 0)`,
  },
  {
    name: 'the payout purse of an account equals its open withdrawals',
    sql: `select account_id, coalesce(p.reserved, 0)::text as reserved,
                 coalesce(w.open, 0)::text as open
            from (select account_id, sum(balance_micros) as reserved
                    from purse_balances where kind = 'payout' group by 1) p
            full join (select account_id, sum(amount_micros) as open
                         from withdrawals
                        where step not in ('completed', 'failed') and refund_of is null
                        group by 1) w using (account_id)
           where coalesce(p.reserved, 0) <> coalesce(w.open, 0)`,
  },
  {
    name: 'each deposit being refunded has one open withdrawal, and each such withdrawal a deposit',
    sql: `select t.movement_id, w.id
            from (select * from chain_transfers where state = 'refunding') t
            full join (select * from withdrawals
                        where refund_of is not null and step not in ('completed', 'failed')) w
              on w.refund_of = t.movement_id and w.account_id = t.account_id
             and w.amount_micros = t.value_micros
           where t.movement_id is null or w.id is null`,
  },
  {
    name: 'custody equals received transfers minus completed withdrawals',
    sql: `select custody::text, received::text, sent::text
            from (select coalesce(sum(-amount_micros), 0) as custody
                    from entries where kind = 'chain') c,
                 (select coalesce(sum(value_micros), 0) as received
                    from chain_transfers where state <> 'refunded') r,
                 (select coalesce(sum(amount_micros - fee_micros), 0) as sent
                    from withdrawals where step = 'completed' and refund_of is null) s
           where custody <> received - sent`,
  },
  {
    name: 'the unswept amount of an address is its transfers minus its sweeps',
    sql: `select h.chain, h.address, h.asset, h.received_micros::text as recorded,
                 h.swept_micros::text as swept
            from address_holdings h
            full join (select d.chain, d.address, t.asset, sum(t.value_micros) as received
                         from chain_transfers t
                         join deposit_addresses d on d.chain = t.chain
                          and d.account_id = t.account_id and d.topup_id = t.topup_id
                        group by 1, 2, 3) r using (chain, address, asset)
            left join (select chain, address, asset, sum(value_micros) as done
                         from sweeps where step = 'done' group by 1, 2, 3) s
                using (chain, address, asset)
           where coalesce(h.received_micros, 0) <> coalesce(r.received, 0)
              or coalesce(h.swept_micros, 0) <> coalesce(s.done, 0)`,
  },
  {
    name: 'each signed withdrawal has its signed bytes stored',
    sql: `select w.account_id, w.id
            from withdrawals w
           where w.step in ('signed', 'completed')
             and not exists (select from withdrawal_transfers t
                              where t.account_id = w.account_id and t.withdrawal_id = w.id
                                and t.txid = w.txid)`,
  },
]
