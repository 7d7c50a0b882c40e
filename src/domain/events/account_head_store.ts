import { bigints, texts } from '#platform/postgres/columns.ts'
import type { Tx } from '#platform/postgres/db.ts'
import { countedWrite, type Write } from '#platform/postgres/write.ts'

/**
 * An account's sequence row: the number and ID of its last event and the end of its audit chain.
 * Its lock is the last one of any transaction.
 */
export type EventHead = { event_sequence: bigint; last_event_id: string }
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

export async function lockAccountHead(
  tx: Tx,
  account_id: string,
): Promise<EventHead & AuditChainEnd> {
  const [head] = await tx.rows<EventHead & AuditChainEnd>(
    `select event_sequence, last_event_id, audit_hash, audit_count from account_heads
      where account_id = $1 for update`,
    [account_id],
  )
  if (head === undefined) throw new Error(`the account ${account_id} has no sequence row`)
  return head
}

/** Stores the account's last event. Its row must be locked. */
export async function writeEventHead(
  tx: Tx,
  account_id: string,
  { event_sequence, last_event_id }: EventHead,
): Promise<void> {
  await tx.run(
    'update account_heads set event_sequence = $2, last_event_id = $3 where account_id = $1',
    [account_id, event_sequence, last_event_id],
  )
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

/** The ends of accounts' audit chains, read without a lock. */
export type AuditChains = ReadonlyMap<string, AuditChainEnd>

export async function findAuditChains(
  tx: Tx,
  account_ids: readonly string[],
): Promise<AuditChains> {
  const rows = await tx.rows<AuditChainEnd & { account_id: string }>(
    'select account_id, audit_hash, audit_count from account_heads where account_id = any($1)',
    [texts(account_ids, (account_id) => account_id)],
  )
  return new Map(rows.map(({ account_id, ...end }) => [account_id, end]))
}

/** Fails with ConcurrentUpdate if one of the chains is longer than it was read. */
export function updateAuditChains(read: AuditChains, ends: AuditChains): Write {
  const account_ids = [...ends.keys()].sort()
  const countIn = (chains: AuditChains) =>
    bigints(account_ids, (account_id) => chains.get(account_id)?.audit_count ?? 0n)
  return countedWrite(
    account_ids.length,
    `update account_heads h set audit_hash = w.hash, audit_count = w.count
       from unnest($1::text[], $2::text[], $3::bigint[], $4::bigint[])
              as w (account_id, hash, count, read)
      where h.account_id = w.account_id and h.audit_count = w.read`,
    [
      texts(account_ids, (account_id) => account_id),
      texts(account_ids, (account_id) => ends.get(account_id)?.audit_hash ?? ''),
      countIn(ends),
      countIn(read),
    ],
  )
}
