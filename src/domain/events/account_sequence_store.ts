import { texts } from '#platform/postgres/columns.ts'
import type { Tx } from '#platform/postgres/db.ts'
import { rowUpdate } from '#platform/postgres/row_update.ts'
import type { Write } from '#platform/postgres/write.ts'

/**
 * An account's sequence row: the number and ID of its last event and the end of its audit chain.
 * Its lock is the last one of any transaction.
 */
export type LastEvent = { event_sequence: bigint; last_event_id: string }
export type AuditChainEnd = { audit_hash: string; audit_count: bigint }

export async function insertAccountSequence(
  tx: Tx,
  account_id: string,
  audit_hash: string,
): Promise<void> {
  await tx.run('insert into account_sequences (account_id, audit_hash) values ($1, $2)', [
    account_id,
    audit_hash,
  ])
}

export async function lockAccountSequence(
  tx: Tx,
  account_id: string,
): Promise<LastEvent & AuditChainEnd> {
  const [row] = await tx.rows<LastEvent & AuditChainEnd>(
    `select event_sequence, last_event_id, audit_hash, audit_count from account_sequences
      where account_id = $1 for update`,
    [account_id],
  )
  if (row === undefined) throw new Error(`the account ${account_id} has no sequence row`)
  return row
}

/** Stores the account's last event. Its row must be locked. */
export async function writeLastEvent(
  tx: Tx,
  account_id: string,
  { event_sequence, last_event_id }: LastEvent,
): Promise<void> {
  await tx.run(
    'update account_sequences set event_sequence = $2, last_event_id = $3 where account_id = $1',
    [account_id, event_sequence, last_event_id],
  )
}

export async function writeAuditChain(
  tx: Tx,
  account_id: string,
  { audit_hash, audit_count }: AuditChainEnd,
): Promise<void> {
  await tx.run(
    'update account_sequences set audit_hash = $2, audit_count = $3 where account_id = $1',
    [account_id, audit_hash, audit_count],
  )
}

/** The ends of accounts' audit chains, read without a lock. */
export type AuditChains = ReadonlyMap<string, AuditChainEnd>

export async function findAuditChains(
  tx: Tx,
  account_ids: readonly string[],
): Promise<AuditChains> {
  const rows = await tx.rows<AuditChainEnd & { account_id: string }>(
    'select account_id, audit_hash, audit_count from account_sequences where account_id = any($1)',
    [texts(account_ids, (account_id) => account_id)],
  )
  return new Map(rows.map(({ account_id, ...end }) => [account_id, end]))
}

/** Fails with ConcurrentUpdate if one of the chains is longer than it was read. */
export function updateAuditChains(read: AuditChains, ends: AuditChains): Write {
  const rows = [...ends].map(([account_id, end]) => {
    return { account_id, end, read_count: read.get(account_id)?.audit_count ?? 0n }
  })
  return writeAuditChains(rows.sort((a, b) => (a.account_id < b.account_id ? -1 : 1)))
}

type ChangedChain = { account_id: string; end: AuditChainEnd; read_count: bigint }

const writeAuditChains = rowUpdate<ChangedChain>('account_sequences', {
  key: { account_id: ['text', ({ account_id }) => account_id] },
  read: { audit_count: ['bigint', ({ read_count }) => read_count] },
  set: {
    audit_hash: ['text', ({ end }) => end.audit_hash],
    audit_count: ['bigint', ({ end }) => end.audit_count],
  },
})
