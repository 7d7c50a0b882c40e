import type { Tx } from '#platform/postgres/db.ts'

/**
 * An account's sequence row: the number of its last event and the end of its audit chain. Its lock
 * is the last one of any transaction.
 */
export type AuditChainEnd = { audit_hash: string; audit_count: bigint }

export async function insertAccountHead(
  tx: Tx,
  account_id: string,
  audit_hash: string,
): Promise<void> {
  await tx.run('insert into account_heads (account_id, audit_hash) values ($1, $2)', [
    account_id,
    audit_hash,
  ])
}

export async function lockAuditChain(tx: Tx, account_id: string): Promise<AuditChainEnd> {
  const [head] = await tx.rows<AuditChainEnd>(
    'select audit_hash, audit_count from account_heads where account_id = $1 for update',
    [account_id],
  )
  if (head === undefined) throw new Error(`the account ${account_id} has no sequence row`)
  return head
}

export async function writeAuditChain(
  tx: Tx,
  account_id: string,
  { audit_hash, audit_count }: AuditChainEnd,
): Promise<void> {
  await tx.run('update account_heads set audit_hash = $2, audit_count = $3 where account_id = $1', [
    account_id,
    audit_hash,
    audit_count,
  ])
}
