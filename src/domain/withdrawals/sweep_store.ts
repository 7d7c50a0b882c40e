import type { Micros } from '#kernel/money.ts'
import type { Tx } from '#platform/db.ts'

export type SweepRow = {
  chain: string
  address: string
  number: number
  address_index: bigint
  asset: string
  value_micros: Micros
  step: 'planned' | 'fuelling' | 'fuelled' | 'sweeping' | 'done' | 'failed'
  attempt: number
  txid: string | null
  raw: string | null
  signature: string | null
  expires_at: Date | null
}

const COLUMNS = `chain, address, number, address_index, asset, value_micros, step, attempt, txid,
  raw, signature, expires_at`

/**
 * Plans a sweep for each address where enough final money has gathered. An address with money that
 * a person must look at is left alone: mixing it would make it ours.
 */
export async function planSweeps(
  tx: Tx,
  plan: { chain: string; asset: string; minimum_micros: Micros; now: Date },
): Promise<void> {
  await tx.run(
    `insert into sweeps (chain, address, number, address_index, asset, value_micros, step,
                         next_try_at, created_at, updated_at)
     select d.chain, d.address, coalesce(max(s.number), 0) + 1, d.address_index, $2,
            max(g.gathered) - coalesce(sum(s.value_micros) filter (where s.step = 'done'), 0),
            'planned', $4, $4, $4
       from (select account_id, topup_id, sum(value_micros) as gathered
               from chain_transfers where chain = $1
              group by 1, 2
             having sum(value_micros) >= $3
                and not bool_or(state = 'held' and held_reason = 'screening')) g
       join deposit_addresses d
         on d.chain = $1 and d.account_id = g.account_id and d.topup_id = g.topup_id
       left join sweeps s on s.chain = d.chain and s.address = d.address
      group by d.chain, d.address, d.address_index
     having max(g.gathered) - coalesce(sum(s.value_micros) filter (where s.step = 'done'), 0) >= $3
        and not coalesce(bool_or(s.step not in ('done', 'failed')), false)
      limit 20
         on conflict do nothing`,
    [plan.chain, plan.asset, plan.minimum_micros, plan.now],
  )
}

export async function findOpenSweeps(tx: Tx, chain: string, now: Date): Promise<SweepRow[]> {
  return tx.rows<SweepRow>(
    `select ${COLUMNS} from sweeps
      where chain = $1 and step not in ('done', 'failed') and next_try_at <= $2
      order by next_try_at limit 50`,
    [chain, now],
  )
}

/** Moves a sweep on from the step and attempt it was found in; nothing if it has moved already. */
export async function updateSweep(
  tx: Tx,
  before: SweepRow,
  change: Partial<SweepRow>,
  { now, next_try_at }: { now: Date; next_try_at: Date },
): Promise<SweepRow | null> {
  const next = { ...before, ...change }
  const [row] = await tx.rows<SweepRow>(
    `update sweeps
        set step = $6, attempt = $7, txid = $8, raw = $9, signature = $10, expires_at = $11,
            updated_at = $12, next_try_at = $13
      where chain = $1 and address = $2 and number = $3 and step = $4 and attempt = $5
  returning ${COLUMNS}`,
    [
      before.chain,
      before.address,
      before.number,
      before.step,
      before.attempt,
      next.step,
      next.attempt,
      next.txid,
      next.raw,
      next.signature,
      next.expires_at,
      now,
      next_try_at,
    ],
  )
  return row ?? null
}
