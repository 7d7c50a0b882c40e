import type { TransactionRow } from '#domain/transactions/transaction.ts'
import type { Tx } from '#platform/postgres/db.ts'
import { type AnsweredRow, findAnswered, findPurchases } from './batch_store.ts'
import type { CardRequest } from './request.ts'

/** The messages of a batch, and what they refer to. */
type References = {
  batch: readonly CardRequest[]
  seen: readonly AnsweredRow[]
  rows: readonly TransactionRow[]
}

/**
 * Finds the messages that others name with another acquirer: peers often write it differently in
 * element 90 than in element 32 of the message itself. Their names are corrected, and what they
 * refer to is loaded too. Costs a query only if a name is not found as it is.
 */
export async function correctOriginals(
  tx: Tx,
  { batch, seen, rows }: References,
  now: Date,
): Promise<References> {
  const known = new Set([...seen, ...batch].map(({ identity }) => identity))
  const unknown = batch.filter(
    ({ reference: { original_identity, original_prefix } }) =>
      original_identity !== null && original_prefix !== null && !known.has(original_identity),
  )
  const found = unknown.length === 0 ? NONE : await findByPrefix(tx, unknown)
  if (found.size === 0) return { batch, seen, rows }
  const corrected = batch.map((request) => {
    const original_identity = found.get(request.reference.original_identity ?? '')
    if (original_identity === undefined) return request
    return { ...request, reference: { ...request.reference, original_identity } }
  })
  const renamed = corrected.filter((request, at) => request !== batch[at])
  const [more_seen, more_rows] = await Promise.all([
    findAnswered(tx, [...found.values()]),
    findPurchases(tx, renamed, now),
  ])
  const loaded = new Set(rows.map(({ id }) => id))
  return {
    batch: corrected,
    seen: [...seen, ...more_seen],
    rows: [...rows, ...more_rows.filter(({ id }) => !loaded.has(id))],
  }
}

const NONE: ReadonlyMap<string, string> = new Map()

/** Identities end with the hash of the card number, and sort by what comes before the acquirer. */
async function findByPrefix(
  tx: Tx,
  requests: readonly CardRequest[],
): Promise<ReadonlyMap<string, string>> {
  const found = await tx.rows<{ name: string; identity: string }>(
    `select w.name, m.identity
       from unnest($1::text[], $2::text[], $3::text[]) as w (name, prefix, pan_hash)
      cross join lateral (
              select identity from network_messages
               where identity >= w.prefix collate "C" and identity < (w.prefix || '~') collate "C"
                 and right(identity, length(w.pan_hash)) = w.pan_hash
               order by identity limit 1) m`,
    [
      requests.map(({ reference }) => reference.original_identity),
      requests.map(({ reference }) => reference.original_prefix),
      requests.map(({ pan_hash }) => pan_hash),
    ],
  )
  return new Map(found.map(({ name, identity }) => [name, identity]))
}
