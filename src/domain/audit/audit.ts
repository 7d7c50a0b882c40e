import { createHash } from 'node:crypto'
import type { NewAuditEntry } from '#domain/context/context.ts'
import type { RowStamp } from '#domain/context/stamp.ts'
import {
  type AuditChainEnd,
  lockAccountSequence,
  writeAuditChain,
} from '#domain/events/account_sequence_store.ts'
import { canonicalJson } from '#kernel/canonical.ts'
import type { Tx } from '#platform/postgres/db.ts'

/**
 * The audit entries of an account form a hash chain: each hash covers the entry and the previous
 * hash. The table refuses updates and deletes; the chain also reveals changes by someone who can
 * disable that, such as a superuser.
 */
export type AuditRow = {
  account_id: string
  id: string
  position: bigint
  action: string
  actor_type: 'session' | 'api_key' | 'oauth_client' | 'system' | 'operator'
  actor_id: string | null
  actor_name: string | null
  operation: string | null
  result: 'success' | 'denied' | 'failure'
  resource_type: string | null
  resource_id: string | null
  ip: string | null
  user_agent: string | null
  request_id: string | null
  created_at: Date
  prev_hash: string
  hash: string
}

/** The actor and origin of a call, shared by all its entries. */
export type AuditContext = Pick<
  AuditRow,
  'actor_type' | 'actor_id' | 'actor_name' | 'operation' | 'ip' | 'user_agent' | 'request_id'
> & {
  stamp(): RowStamp
}

/** The previous hash of an account's first entry. It binds the chain to the account. */
export function genesisHash(account_id: string): string {
  return createHash('sha256').update(`florin audit of ${account_id}`).digest('hex')
}

export function auditHash(entry: Omit<AuditRow, 'hash'>): string {
  const content = {
    ...entry,
    position: entry.position.toString(),
    created_at: entry.created_at.toISOString(),
  }
  return createHash('sha256').update(canonicalJson(content)).digest('hex')
}

/**
 * Appends entries to the chain and returns their ids. Locks the account's sequence row, so it must
 * be the last lock of the transaction.
 */
export async function recordAudit(
  tx: Tx,
  account_id: string,
  entries: readonly NewAuditEntry[],
  context: AuditContext,
): Promise<string[]> {
  if (entries.length === 0) return []
  let end: AuditChainEnd = await lockAccountSequence(tx, account_id)
  const rows = entries.map((entry) => {
    const row = nextEntry(account_id, end, { entry, context })
    end = { audit_hash: row.hash, audit_count: row.position }
    return row
  })
  await Promise.all([
    ...rows.map((row) => insertEntry(tx, row)),
    writeAuditChain(tx, account_id, end),
  ])
  return rows.map(({ id }) => id)
}

/** The entry that follows the end of an account's chain. */
export function nextEntry(
  account_id: string,
  { audit_hash, audit_count }: AuditChainEnd,
  { entry, context }: { entry: NewAuditEntry; context: AuditContext },
): AuditRow {
  const { stamp, ...shared } = context
  const { action, result = 'success', resource = null, ...rest } = entry
  const row = {
    ...shared,
    ...rest,
    ...stamp(),
    account_id,
    position: audit_count + 1n,
    action,
    result,
    resource_type: resource?.type ?? null,
    resource_id: resource?.id ?? null,
    prev_hash: audit_hash,
  }
  return { ...row, hash: auditHash(row) }
}

async function insertEntry(tx: Tx, entry: AuditRow): Promise<void> {
  await tx.run(
    `insert into audit_entries
       (account_id, id, position, action, actor_type, actor_id, actor_name, operation, result,
        resource_type, resource_id, ip, user_agent, request_id, created_at, prev_hash, hash)
     values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17)`,
    [
      entry.account_id,
      entry.id,
      entry.position,
      entry.action,
      entry.actor_type,
      entry.actor_id,
      entry.actor_name,
      entry.operation,
      entry.result,
      entry.resource_type,
      entry.resource_id,
      entry.ip,
      entry.user_agent,
      entry.request_id,
      entry.created_at,
      entry.prev_hash,
      entry.hash,
    ],
  )
}
