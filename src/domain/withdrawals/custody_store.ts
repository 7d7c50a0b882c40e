import type { Micros } from '#kernel/money.ts'
import type { Tx } from '#platform/postgres/db.ts'

export type CustodyBooks = {
  chain: string
  asset: string
  custody_micros: Micros
  in_flight_micros: Micros
}

/**
 * Custody by asset: received minus sent, and the amount whose coins may have left: in signed
 * withdrawals, and in those whose final transfer awaits an operator.
 */
export function findCustodyBooks(tx: Tx): Promise<CustodyBooks[]> {
  return tx.rows<CustodyBooks>(
    `select chain, asset,
            coalesce(r.received, 0)::bigint - coalesce(s.sent, 0)::bigint as custody_micros,
            coalesce(s.in_flight, 0)::bigint as in_flight_micros
       from (select chain, asset, sum(value_micros) as received
               from chain_transfers where state <> 'refunded' group by 1, 2) r
       full join (select chain, asset,
                         sum(amount_micros - fee_micros)
                           filter (where step = 'completed' and refund_of is null) as sent,
                         sum(amount_micros - fee_micros)
                           filter (where step = 'signed'
                                      or step = 'review' and block_number is not null) as in_flight
                    from withdrawals group by 1, 2) s using (chain, asset)`,
  )
}

/** Deposit addresses with an unswept amount, largest first. */
export async function findUnsweptAddresses(
  tx: Tx,
  { chain, asset, count_max }: { chain: string; asset: string; count_max: number },
): Promise<string[]> {
  const rows = await tx.rows<{ address: string }>(
    `select address from address_holdings
      where chain = $1 and asset = $2 and unswept_micros > 0
      order by unswept_micros desc limit $3`,
    [chain, asset, count_max],
  )
  return rows.map(({ address }) => address)
}

/** The unswept amount on the addresses beyond the first count_max. */
export async function sumRemainingBalances(
  tx: Tx,
  { chain, asset, count_max }: { chain: string; asset: string; count_max: number },
): Promise<Micros> {
  const [row] = await tx.rows<{ sum: Micros }>(
    `select coalesce(sum(unswept_micros), 0)::bigint as sum
       from (select unswept_micros from address_holdings
              where chain = $1 and asset = $2 and unswept_micros > 0
              order by unswept_micros desc offset $3) rest`,
    [chain, asset, count_max],
  )
  return row?.sum ?? 0n
}
