import type { Micros } from '#kernel/money.ts'
import type { Tx } from '#platform/postgres/db.ts'
import { type PageInput, type PageOf, readPage } from '#platform/postgres/page.ts'
import type { HeldReason } from './deposits.ts'

export type HeldDepositRow = {
  id: string
  account_id: string
  topup_id: string
  chain: string
  asset: string
  txid: string
  from_address: string
  value_micros: Micros
  held_reason: HeldReason
  created_at: Date
}

const rowsIn = (state: 'held' | 'refunding') =>
  `select id, account_id, topup_id, chain, asset, txid, from_address, value_micros, held_reason,
          created_at
     from (select movement_id as id, account_id, topup_id, chain, asset, txid, from_address,
                  value_micros, held_reason, created_at
             from chain_transfers where state = '${state}') ${state}`

export function pageOfHeld(tx: Tx, input: PageInput): Promise<PageOf<HeldDepositRow>> {
  return readPage(tx, {
    operation: 'operator_list_held_deposits',
    prefix: 'bal',
    select: rowsIn('held'),
    where: [['id is not null']],
    input,
  })
}

export async function findHeld(tx: Tx, id: string): Promise<HeldDepositRow | undefined> {
  const [row] = await tx.rows<HeldDepositRow>(`${rowsIn('held')} where id = $1`, [id])
  return row
}

export async function findRefunding(tx: Tx, id: string): Promise<HeldDepositRow | undefined> {
  const [row] = await tx.rows<HeldDepositRow>(`${rowsIn('refunding')} where id = $1`, [id])
  return row
}
