import type { TransactionRow } from '#domain/transactions/transaction.ts'
import { texts } from '#platform/postgres/columns.ts'
import type { Tx } from '#platform/postgres/db.ts'
import { rowSet } from '#platform/postgres/row_set.ts'
import { plainWrite, type Write } from '#platform/postgres/write.ts'
import type { ChallengeState } from './card_state.ts'
import type { CardRequest, StoredResponse } from './request.ts'

/**
 * The writes of a batch, one statement per table. Each set is in key order, so that two nodes never
 * deadlock.
 */

export type RespondedMessage = {
  request: CardRequest
  answer: StoredResponse
  transaction: TransactionRow | null
}

const addMessages = rowSet<RespondedMessage>('network_messages', {
  identity: ['text', ({ request }) => request.identity],
  link: ['text', ({ request }) => request.link],
  fingerprint: ['text', ({ request }) => request.fingerprint],
  account_id: ['text', ({ transaction }) => transaction?.account_id],
  transaction_id: ['text', ({ transaction }) => transaction?.id],
  mti: ['text', ({ request }) => request.message?.mti],
  raw: ['bytea', ({ request }) => request.message?.raw],
  fields: ['text', ({ request }) => request.message?.fields],
  response_mti: ['text', ({ answer }) => answer.mti],
  response_fields: ['text', ({ answer }) => answer.fields && JSON.stringify(answer.fields)],
  response_code: ['text', ({ answer }) => answer.response_code],
  answer: ['bytea', ({ answer }) => answer.kept_bytes],
  received_at: ['timestamptz', ({ request }) => request.received_at],
})

export function newMessages(messages: readonly RespondedMessage[]): readonly Write[] {
  const rows = messages
    .filter(({ request }) => request.message !== null)
    .sort((a, b) => (a.request.identity < b.request.identity ? -1 : 1))
  return rows.length === 0 ? [] : [addMessages(rows)]
}

const UNIQUE_VIOLATION = '23505'

/**
 * Another node has responded to one of these messages. The card's lock prevents that, except for a
 * number that no card has.
 */
export function isAnsweredByOtherNode(cause: unknown): boolean {
  const { code, table } = cause as { code?: unknown; table?: unknown }
  return code === UNIQUE_VIOLATION && table === 'network_messages'
}

/** Refuses pending clearings that the network has reversed. */
export function newEarlyReversals(identities: ReadonlySet<string>, now: Date): readonly Write[] {
  if (identities.size === 0) return []
  const sorted = [...identities].sort()
  const sql = `insert into early_reversals (identity, created_at) values ($1, $2)
    on conflict do nothing`
  const refuse = `update pending_clearings set refused_at = $2
    where message_identity = any($1::text[]) and settled_at is null and refused_at is null`
  return [
    ...sorted.map((identity) => plainWrite(sql, [identity, now])),
    plainWrite(refuse, [texts(sorted, (identity) => identity), now]),
  ]
}

export async function markChallengesUsed(tx: Tx, used: readonly ChallengeState[]): Promise<void> {
  for (const { account_id, id, used_by } of used) {
    await tx.run('update three_ds_challenges set used_by = $3 where account_id = $1 and id = $2', [
      account_id,
      id,
      used_by,
    ])
  }
}
