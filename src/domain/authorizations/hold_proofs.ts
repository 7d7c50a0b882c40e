import type { Proof } from '#domain/ledger/audit_books.ts'

/** Invariants of card payments: each query returns the rows that violate one. */
export const hold_proofs: readonly Proof[] = [
  {
    name: "every card's hold purse equals what its authorizations hold",
    sql: `select account_id, card_id, h.held::text as held, coalesce(p.balance, 0)::text as purse
            from (select account_id, card_id, sum(held_micros) as held
                    from transactions group by 1, 2) h
            full join (select account_id, owner_id as card_id, balance_micros as balance
                         from purse_balances where kind = 'hold') p using (account_id, card_id)
           where coalesce(h.held, 0) <> coalesce(p.balance, 0)`,
  },
  {
    name: 'only a pending or partly captured authorization holds anything',
    sql: `select account_id, id, status, held_micros::text as held from transactions
           where open_micros > 0 and status not in ('pending', 'partially_captured')`,
  },
  {
    name: 'what was captured less what was refunded is what the network got',
    sql: `select account_id, t.spent::text as transactions, coalesce(m.paid, 0)::text as network
            from (select account_id,
                         sum(case when type = 'capture' then amount_micros
                                  when type = 'refund' and status = 'settled'
                                  then -amount_micros else 0 end) as spent
                    from transactions group by 1) t
            full join (select account_id, sum(amount_micros) as paid from entries
                        where kind = 'network' group by 1) m using (account_id)
           where coalesce(t.spent, 0) <> coalesce(m.paid, 0)`,
  },
  {
    name: 'what an authorization captured is the sum of its captures',
    sql: `select a.account_id, a.id, a.captured_micros::text as captured, c.sum::text as captures
            from transactions a
            left join lateral (select coalesce(sum(amount_micros), 0) as sum from transactions c
                                where c.account_id = a.account_id and c.type = 'capture'
                                  and c.authorization_id = a.id) c on true
           where a.type = 'authorization' and a.captured_micros <> c.sum`,
  },
]
