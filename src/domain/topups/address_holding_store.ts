import type { Micros } from '#kernel/money.ts'
import type { Tx } from '#platform/postgres/db.ts'

type Address = { chain: string; address: string }
type Coins = Address & { asset: string; value_micros: Micros }

/** Coins that arrived at a deposit address and wait there to be swept. */
export async function addHolding(tx: Tx, coins: Coins): Promise<void> {
  await tx.run(
    `insert into address_holdings as h (chain, address, asset, account_id, topup_id, address_index,
                                        received_micros)
     select chain, address, $3, account_id, topup_id, address_index, $4
       from deposit_addresses where chain = $1 and address = $2
         on conflict (chain, address, asset) do update
        set received_micros = h.received_micros + excluded.received_micros`,
    [coins.chain, coins.address, coins.asset, coins.value_micros],
  )
}

/** Coins of an address that have reached the hot wallet. */
export async function addSweptAmount(tx: Tx, coins: Coins): Promise<void> {
  await tx.run(
    `update address_holdings set swept_micros = swept_micros + $4
      where chain = $1 and address = $2 and asset = $3`,
    [coins.chain, coins.address, coins.asset, coins.value_micros],
  )
}

/** The next sweep of this address starts no earlier. */
export async function pauseSweeps(tx: Tx, { chain, address }: Address, until: Date): Promise<void> {
  await tx.run('update address_holdings set sweep_after = $3 where chain = $1 and address = $2', [
    chain,
    address,
    until,
  ])
}
