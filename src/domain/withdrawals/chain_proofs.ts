import { type Proof, usd } from '#domain/context/proof.ts'

/** Sums over all accounts that must match the chains. */
export const chain_proofs: readonly Proof[] = [
  {
    name: 'custody equals received transfers minus completed withdrawals',
    scope: 'whole',
    sql: `select null as account_id, 'chain' as id,
                 format('Custody is %s; %s was received and %s was sent.', ${usd('custody')},
                        ${usd('received')}, ${usd('sent')}) as sentence
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
    scope: 'whole',
    sql: `select h.account_id, chain || '/' || address || '/' || asset as id,
                 format('The address shows %s received and %s swept; transfers and sweeps sum to '
                        || '%s and %s.', ${usd('coalesce(h.received_micros, 0)')},
                        ${usd('coalesce(h.swept_micros, 0)')}, ${usd('coalesce(r.received, 0)')},
                        ${usd('coalesce(s.done, 0)')}) as sentence
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
]
