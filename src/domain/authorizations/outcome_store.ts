import type { TransactionRow } from '#domain/transactions/transaction.ts'
import { bigints, days, texts } from '#platform/columns.ts'
import type { Tx } from '#platform/db.ts'
import { rowSet } from '#platform/row_set.ts'
import type { CardFacts, ChallengeFacts } from './facts.ts'
import type { CardRequest, KeptAnswer } from './request.ts'
import type { SpendingChange } from './work.ts'

/**
 * What a batch writes, one statement a table. Every set goes in the order of its keys, so that two
 * nodes never wait for each other in a circle.
 */

const BEGIN_COUNT = `
  insert into card_spending as s (account_id, card_id, day, spent_micros)
  select * from unnest($1::text[], $2::text[], $3::date[], $4::bigint[])
      on conflict (account_id, card_id, day)
      do update set spent_micros = s.spent_micros + excluded.spent_micros`

/** Row by row by its key, whatever the plan's maker knows of the table: see FIND_PURCHASES. */
const COUNT_ON = `
  update card_spending s set spent_micros = s.spent_micros + w.micros
    from unnest($1::text[], $2::text[], $3::date[], $4::bigint[])
           as w (account_id, card_id, day, micros)
   cross join lateral (
           select ctid from card_spending
            where account_id = w.account_id and card_id = w.card_id and day = w.day
           offset 0) k
   where s.ctid = k.ctid`

/** To change a row that is there costs half as much as to see first whether it is. */
export async function writeSpending(tx: Tx, changes: Iterable<SpendingChange>): Promise<void> {
  const sorted = [...changes].sort((a, b) => (spendingKey(a) < spendingKey(b) ? -1 : 1))
  // What is given back was counted before, so its row is there.
  const isNew = ({ is_first, micros }: SpendingChange) => is_first && micros > 0n
  const begun = sorted.filter(isNew)
  const known = sorted.filter((change) => !isNew(change))
  await Promise.all([
    begun.length > 0 && tx.run(BEGIN_COUNT, columnsOf(begun)),
    known.length > 0 && tx.run(COUNT_ON, columnsOf(known)),
  ])
}

const columnsOf = (rows: readonly SpendingChange[]) => [
  texts(rows, ({ account_id }) => account_id),
  texts(rows, ({ card_id }) => card_id),
  days(rows, ({ day }) => day),
  bigints(rows, ({ micros }) => micros),
]

const spendingKey = ({ account_id, card_id, day }: SpendingChange) =>
  `${account_id}|${card_id}|${day}`

export type AnsweredMessage = {
  request: CardRequest
  answer: KeptAnswer
  transaction: TransactionRow | null
}

const addMessages = rowSet<AnsweredMessage>('network_messages', {
  identity: ['text', ({ request }) => request.identity],
  link: ['text', ({ request }) => request.link],
  fingerprint: ['text', ({ request }) => request.fingerprint],
  account_id: ['text', ({ transaction }) => transaction?.account_id],
  card_id: ['text', ({ transaction }) => transaction?.card_id],
  transaction_id: ['text', ({ transaction }) => transaction?.id],
  mti: ['text', ({ request }) => request.message?.mti],
  bitmap: ['text', ({ request }) => request.message?.bitmap],
  fields: ['text', ({ request }) => request.message?.fields],
  raw: ['bytea', ({ request }) => request.message?.raw],
  response_mti: ['text', ({ answer }) => answer.mti],
  response_fields: ['text', ({ answer }) => JSON.stringify(answer.fields)],
  response_code: ['text', ({ answer }) => answer.response_code],
  answer: ['bytea', ({ answer }) => answer.kept_bytes],
  received_at: ['timestamptz', ({ request }) => request.received_at],
})

const UNIQUE_VIOLATION = '23505'

/**
 * The last statement of a batch. True where another node has answered one of these meanwhile, which
 * only a card that nobody knows makes possible: the batch is then done again, and finds it.
 */
export async function insertMessages(tx: Tx, messages: readonly AnsweredMessage[]) {
  const rows = messages
    .filter(({ request }) => request.message !== null)
    .sort((a, b) => (a.request.identity < b.request.identity ? -1 : 1))
  if (rows.length === 0) return false
  try {
    await addMessages(tx, rows)
    return false
  } catch (cause) {
    if ((cause as { code?: unknown }).code === UNIQUE_VIOLATION) return true
    throw cause
  }
}

export async function insertEarlyReversals(tx: Tx, identities: ReadonlySet<string>, now: Date) {
  if (identities.size === 0) return
  await tx.run(
    `insert into early_reversals (identity, created_at)
     select unnest($1::text[]), $2 on conflict do nothing`,
    [[...identities].sort(), now],
  )
}

export async function writeAttempts(tx: Tx, cards: ReadonlySet<CardFacts>): Promise<void> {
  for (const card of [...cards].sort((a, b) => (a.id < b.id ? -1 : 1))) {
    await tx.run(
      `insert into card_attempts (account_id, card_id, failed_at) values ($1, $2, $3)
           on conflict (account_id, card_id) do update set failed_at = excluded.failed_at`,
      [card.account_id, card.id, card.failed_at],
    )
  }
}

export async function markChallengesUsed(tx: Tx, used: readonly ChallengeFacts[]): Promise<void> {
  for (const { account_id, id, used_by } of used) {
    await tx.run('update three_ds_challenges set used_by = $3 where account_id = $1 and id = $2', [
      account_id,
      id,
      used_by,
    ])
  }
}
