import type { Tx } from '#platform/postgres/db.ts'

type Sender = { chain: string; address: string }

/** The first nonce that no transfer of this sender has; null before its first transfer. */
export async function findNextNonce(tx: Tx, { chain, address }: Sender): Promise<number | null> {
  const [row] = await tx.rows<{ next_nonce: bigint }>(
    'select next_nonce from sender_orders where chain = $1 and address = $2',
    [chain, address],
  )
  return row === undefined ? null : Number(row.next_nonce)
}

/** False if another transfer has taken the nonce: this one must not be sent. */
export async function claimNonce(
  tx: Tx,
  { chain, address }: Sender,
  nonce: bigint,
): Promise<boolean> {
  const claimed = await tx.rows(
    `insert into sender_orders as o (chain, address, next_nonce)
     values ($1, $2, $3::bigint + 1)
         on conflict (chain, address) do update set next_nonce = excluded.next_nonce
      where o.next_nonce <= $3::bigint
  returning 1`,
    [chain, address, nonce],
  )
  return claimed.length === 1
}
