import { network_payments_sql } from '#domain/ledger/movement_sql.ts'
import type { Micros } from '#kernel/money.ts'
import type { Tx } from '#platform/postgres/db.ts'

type NetworkTotals = { network: string; ledger_micros: Micros; transactions_micros: Micros }

/** Amounts paid to each card network, by the ledger and by the settled transactions. */
export function loadNetworkTotals(tx: Tx): Promise<NetworkTotals[]> {
  return tx.rows<NetworkTotals>(
    `with moved as (
       select t.network, sum(m.paid_micros)::bigint as micros
         from (${network_payments_sql}) m
         join transactions t on t.account_id = m.account_id and t.id = m.reference_id
        group by 1),
     settled as (
       select network,
              sum(case when type = 'capture' then amount_micros
                       when type = 'refund' and status = 'settled' then -amount_micros
                       else 0 end)::bigint as micros
         from transactions group by 1)
     select network,
            coalesce(m.micros, 0) + coalesce(a.ledger_micros, 0) as ledger_micros,
            coalesce(s.micros, 0) + coalesce(a.transactions_micros, 0) as transactions_micros
       from moved m full join settled s using (network)
       full join archived_networks a using (network)
      order by network`,
  )
}
