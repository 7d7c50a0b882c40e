import type { Micros } from '#kernel/money.ts'
import type { Tx } from '#platform/db.ts'

export type ChainBooks = { chain: string; custody_micros: Micros; in_flight_micros: Micros }

/** What the books say of each chain: received less sent, and what is on its way out. */
export function chainBooks(tx: Tx): Promise<ChainBooks[]> {
  return tx.rows<ChainBooks>(
    `select chain, coalesce(r.received, 0)::bigint - coalesce(s.sent, 0)::bigint as custody_micros,
            coalesce(s.in_flight, 0)::bigint as in_flight_micros
       from (select chain, sum(value_micros) as received
               from chain_transfers where state <> 'refunded' group by 1) r
       full join (select chain,
                         sum(amount_micros - fee_micros) filter (where step = 'completed') as sent,
                         sum(amount_micros - fee_micros) filter (where step = 'signed') as in_flight
                    from withdrawals group by 1) s using (chain)`,
  )
}

/** Deposit addresses that have received something since they were last swept. */
export async function unsweptAddresses(tx: Tx, chain: string): Promise<string[]> {
  const rows = await tx.rows<{ address: string }>(
    `select distinct d.address
       from chain_transfers t
       join deposit_addresses d on d.chain = t.chain and d.account_id = t.account_id
            and d.topup_id = t.topup_id
      where t.chain = $1
        and not exists (select from sweeps s
                         where s.chain = d.chain and s.address = d.address and s.step = 'done'
                           and s.updated_at > t.created_at)`,
    [chain],
  )
  return rows.map(({ address }) => address)
}

type NetworkBooks = { network: string; ledger_micros: Micros; transactions_micros: Micros }

/** What the networks were given by the books, and by the transactions they have settled with us. */
export function networkBooks(tx: Tx): Promise<NetworkBooks[]> {
  return tx.rows<NetworkBooks>(
    `with moved as (
       select t.network,
              sum(case when m.to_kind = 'network' then m.amount_micros
                       else -m.amount_micros end)::bigint as micros
         from movements m
         join transactions t on t.account_id = m.account_id and t.id = m.reference_id
        where m.to_kind = 'network' or m.from_kind = 'network'
        group by 1),
     settled as (
       select network,
              sum(case type when 'capture' then amount_micros
                            when 'refund' then -amount_micros else 0 end)::bigint as micros
         from transactions group by 1)
     select network, coalesce(m.micros, 0) as ledger_micros,
            coalesce(s.micros, 0) as transactions_micros
       from moved m full join settled s using (network)
      order by network`,
  )
}
