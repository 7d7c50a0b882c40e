import { createHash } from 'node:crypto'
import type { NewAuditEntry } from '#domain/context/context.ts'
import { lockAuditChain, writeAuditChain } from '#domain/events/account_head_store.ts'
import { canonicalJson } from '#kernel/canonical.ts'
import type { Tx } from '#platform/postgres/db.ts'

/**
 * Each account's audit entries form a chain: an entry's hash covers its content and the hash before
 * it, so that changing, dropping or inserting one shows. The table refuses updates and deletes;
 * the chain shows what was done by somebody who could switch that off.
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

/** Who did it and how it came in: the same for all entries of one call. */
export type AuditContext = Pick<
  AuditRow,
  'actor_type' | 'actor_id' | 'actor_name' | 'operation' | 'ip' | 'user_agent' | 'request_id'
> & {
  /** Called under the head's lock, so that ids follow the order of the chain. */
  stamp(): { id: string; created_at: Date }
}

/** The hash before an account's first entry; it binds the chain to its account. */
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

/** Appends to the chain; answers with the new ids. Locks the account's head, as the last lock. */
export async function recordAudit(
  tx: Tx,
  account_id: string,
  entries: readonly NewAuditEntry[],
  facts: AuditContext,
): Promise<string[]> {
  if (entries.length === 0) return []
  const ids: string[] = []
  let { audit_hash, audit_count } = await lockAuditChain(tx, account_id)
  const { stamp, ...shared } = facts
  for (const { action, result = 'success', resource = null, ...given } of entries) {
    audit_count += 1n
    const entry = {
      ...shared,
      ...given,
      ...stamp(),
      account_id,
      position: audit_count,
      action,
      result,
      resource_type: resource?.type ?? null,
      resource_id: resource?.id ?? null,
      prev_hash: audit_hash,
    }
    audit_hash = auditHash(entry)
    await insertEntry(tx, { ...entry, hash: audit_hash })
    ids.push(entry.id)
  }
  await writeAuditChain(tx, account_id, { audit_hash, audit_count })
  return ids
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
