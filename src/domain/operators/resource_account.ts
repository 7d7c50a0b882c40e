import type { Tx } from '#platform/postgres/db.ts'

/** Finds the account of each kind of object that operators change, by the prefix of its ID. */
const queries_by_prefix: Readonly<Record<string, string>> = {
  acct: 'select id as account_id from accounts where id = $1',
  card: 'select account_id from cards where id = $1',
  dsp: 'select account_id from disputes where id = $1',
  tkt: 'select account_id from tickets where id = $1',
  grant: 'select account_id from oauth_grants where id = $1',
  wd: 'select account_id from withdrawals where id = $1',
  txn: 'select account_id from pending_clearings where id = $1',
  bal: 'select account_id from chain_transfers where movement_id = $1',
}

/** The account an object belongs to; undefined if there is no such object. */
export async function findResourceAccount(tx: Tx, id: unknown): Promise<string | undefined> {
  if (typeof id !== 'string') return undefined
  const select = queries_by_prefix[id.slice(0, id.indexOf('_'))]
  if (select === undefined) return undefined
  const [row] = await tx.rows<{ account_id: string }>(select, [id])
  return row?.account_id
}
