import type { Micros } from '#kernel/money.ts'
import type { Tx } from '#platform/postgres/db.ts'
import type { SentTransferRow } from './sent_transfers.ts'

export type SweepRow = {
  chain: string
  address: string
  number: number
  address_index: bigint
  asset: string
  value_micros: Micros
  /** Native coins sent for the fee, in their smallest unit; null until computed. */
  fuel: bigint | null
  step: 'planned' | 'fuelling' | 'fuelled' | 'sweeping' | 'done' | 'failed'
  attempt: number
}

/** The fuel leg sends native coins to the address; the asset leg sends the asset from it. */
export type Leg = 'fuel' | 'asset'

const COLUMNS = 'chain, address, number, address_index, asset, value_micros, fuel, step, attempt'

export type SweepPlan = { chain: string; minimum_micros: Micros; now: Date }

/**
 * Plans a sweep for each address with enough final deposits, largest first. An address with a
 * deposit held by screening is skipped, so that those coins don't mix with ours.
 */
const PLAN = `
  insert into sweeps (chain, address, number, address_index, asset, value_micros, step,
                      next_try_at, created_at, updated_at)
  select h.chain, h.address,
         coalesce((select max(s.number) from sweeps s
                    where s.chain = h.chain and s.address = h.address), 0) + 1,
         h.address_index, h.asset, h.unswept_micros, 'planned', $3, $3, $3
    from address_holdings h
   where h.chain = $1 and h.unswept_micros > 0 and h.unswept_micros >= $2
     and (h.sweep_after is null or h.sweep_after <= $3)
     and not exists (select from sweeps s
                      where s.chain = h.chain and s.address = h.address
                        and s.step not in ('done', 'failed'))
     and not exists (select from chain_transfers t
                      where t.account_id = h.account_id and t.topup_id = h.topup_id
                        and t.state = 'held' and t.held_reason = 'screening')
   order by h.unswept_micros desc
   limit 20
      on conflict do nothing`

export async function planSweeps(tx: Tx, plan: SweepPlan): Promise<void> {
  await tx.run(PLAN, [plan.chain, plan.minimum_micros, plan.now])
}

export async function findOpenSweeps(tx: Tx, chain: string, now: Date): Promise<SweepRow[]> {
  return tx.rows<SweepRow>(
    `select ${COLUMNS} from sweeps
      where chain = $1 and step not in ('done', 'failed') and next_try_at <= $2
      order by next_try_at limit 50`,
    [chain, now],
  )
}

export type SweepChange = Partial<Pick<SweepRow, 'step' | 'attempt' | 'fuel' | 'value_micros'>>

/** Updates a sweep. Null if it has left the step and attempt of `before`. */
export async function updateSweep(
  tx: Tx,
  before: SweepRow,
  change: SweepChange,
  { now, next_try_at }: { now: Date; next_try_at: Date },
): Promise<SweepRow | null> {
  const next = { ...before, ...change }
  const [row] = await tx.rows<SweepRow>(
    `update sweeps
        set step = $6, attempt = $7, fuel = $8, updated_at = $9, next_try_at = $10,
            value_micros = $11
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
      next.fuel,
      now,
      next_try_at,
      next.value_micros,
    ],
  )
  return row ?? null
}

/** Sets the time of the next try and nothing else. */
export async function postponeSweep(
  tx: Tx,
  { chain, address, number }: SweepRow,
  until: Date,
): Promise<void> {
  await tx.run(
    'update sweeps set next_try_at = $4 where chain = $1 and address = $2 and number = $3',
    [chain, address, number, until],
  )
}

export async function insertSweepTransfer(
  tx: Tx,
  { chain, address, number }: SweepRow,
  { leg, transfer }: { leg: Leg; transfer: SentTransferRow },
): Promise<void> {
  await tx.run(
    `insert into sweep_transfers (chain, address, number, leg, attempt, txid, raw, signature,
                                  expires_at, nonce, created_at)
     values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11)`,
    [
      chain,
      address,
      number,
      leg,
      transfer.attempt,
      transfer.txid,
      transfer.raw,
      transfer.signature,
      transfer.expires_at,
      transfer.nonce,
      transfer.created_at,
    ],
  )
}

/** The signed transfers of one leg, newest first. */
export async function findSweepTransfers(
  tx: Tx,
  { chain, address, number }: SweepRow,
  leg: Leg,
): Promise<SentTransferRow[]> {
  return tx.rows<SentTransferRow>(
    `select attempt, txid, raw, signature, expires_at, nonce, created_at
       from sweep_transfers
      where chain = $1 and address = $2 and number = $3 and leg = $4
      order by attempt desc`,
    [chain, address, number, leg],
  )
}
