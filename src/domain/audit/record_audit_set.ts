import type { NewAuditEntry } from '#domain/context/context.ts'
import {
  type AuditChainEnd,
  type AuditChains,
  updateAuditChains,
} from '#domain/events/account_sequence_store.ts'
import { assert } from '#kernel/assert.ts'
import { rowSet } from '#platform/postgres/row_set.ts'
import type { Write } from '#platform/postgres/write.ts'
import { type AuditContext, type AuditRow, nextEntry } from './audit.ts'

/** An audit entry and the account it belongs to. */
export type OwnedEntry = { account_id: string; entry: NewAuditEntry }

/**
 * Appends entries to the chains of several accounts and returns the writes for them, in order. The
 * chains were read without a lock: if one has grown since, the writes fail with ConcurrentUpdate.
 */
export function auditSetWrites(
  chains: AuditChains,
  entries: readonly OwnedEntry[],
  context: AuditContext,
): readonly Write[] {
  if (entries.length === 0) return []
  const ends = new Map<string, AuditChainEnd>()
  const rows = entries.map(({ account_id, entry }) => {
    const end = ends.get(account_id) ?? chains.get(account_id)
    assert(end !== undefined, 'the chains of a set are read before')
    const row = nextEntry(account_id, end, { entry, context })
    ends.set(account_id, { audit_hash: row.hash, audit_count: row.position })
    return row
  })
  return [updateAuditChains(chains, ends), insertEntries(rows)]
}

const insertEntries = rowSet<AuditRow>('audit_entries', {
  account_id: ['text', ({ account_id }) => account_id],
  id: ['text', ({ id }) => id],
  position: ['bigint', ({ position }) => position],
  action: ['text', ({ action }) => action],
  actor_type: ['text', ({ actor_type }) => actor_type],
  actor_id: ['text', ({ actor_id }) => actor_id],
  actor_name: ['text', ({ actor_name }) => actor_name],
  operation: ['text', ({ operation }) => operation],
  result: ['text', ({ result }) => result],
  resource_type: ['text', ({ resource_type }) => resource_type],
  resource_id: ['text', ({ resource_id }) => resource_id],
  ip: ['text', ({ ip }) => ip],
  user_agent: ['text', ({ user_agent }) => user_agent],
  request_id: ['text', ({ request_id }) => request_id],
  created_at: ['timestamptz', ({ created_at }) => created_at],
  prev_hash: ['text', ({ prev_hash }) => prev_hash],
  hash: ['text', ({ hash }) => hash],
})
