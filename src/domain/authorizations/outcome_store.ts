import type { TransactionRow } from '#domain/transactions/transaction.ts'
import { assert } from '#kernel/assert.ts'
import type { Tx } from '#platform/db.ts'
import type { CardFacts, ChallengeFacts } from './facts.ts'
import type { CardRequest, KeptAnswer } from './request.ts'
import type { SpendingChange } from './work.ts'

/**
 * What a batch writes, one statement a table. Every set goes in the order of its keys, so that two
 * nodes never wait for each other in a circle.
 */

/** Column, type and value of a new transaction; the statement and its arrays are read off here. */
const INSERTED: readonly (readonly [keyof TransactionRow, string])[] = [
  ['account_id', 'text'],
  ['id', 'text'],
  ['card_id', 'text'],
  ['type', 'text'],
  ['status', 'text'],
  ['authorization_id', 'text'],
  ['amount_minor', 'bigint'],
  ['currency', 'text'],
  ['amount_micros', 'bigint'],
  ['fx_rate', 'text'],
  ['merchant_name', 'text'],
  ['mcc', 'text'],
  ['merchant_city', 'text'],
  ['merchant_country', 'text'],
  ['merchant_id', 'text'],
  ['terminal_id', 'text'],
  ['open_micros', 'bigint'],
  ['held_micros', 'bigint'],
  ['captured_micros', 'bigint'],
  ['refunded_micros', 'bigint'],
  ['decline_code', 'text'],
  ['card_present', 'boolean'],
  ['entry_mode', 'text'],
  ['wallet', 'text'],
  ['three_ds_result', 'text'],
  ['three_ds_challenge_id', 'text'],
  ['network', 'text'],
  ['network_transaction_id', 'text'],
  ['retrieval_reference_number', 'text'],
  ['authorization_code', 'text'],
  ['is_single_message', 'boolean'],
  ['is_stand_in', 'boolean'],
  ['is_forced', 'boolean'],
  ['message_identity', 'text'],
  ['version', 'bigint'],
]

const names = INSERTED.map(([name]) => name).join(', ')
const arrays = INSERTED.map(([, type], at) => `$${at + 1}::${type}[]`).join(', ')
const last = INSERTED.length

const INSERT_TRANSACTIONS = `
  insert into transactions (${names}, failed_rules, settled_at, expires_at, created_at, updated_at)
  select ${names}, string_to_array(rules, ','), settled, expires, $${last + 4}, $${last + 4}
    from unnest(${arrays}, $${last + 1}::text[], $${last + 2}::timestamptz[],
                $${last + 3}::timestamptz[])
           as w (${names}, rules, settled, expires)`

export async function insertTransactions(tx: Tx, rows: readonly TransactionRow[], now: Date) {
  if (rows.length === 0) return
  const inserted = await tx.run(INSERT_TRANSACTIONS, [
    ...INSERTED.map(([name]) => rows.map((row) => row[name])),
    rows.map((row) => row.failed_rules.join(',')),
    rows.map((row) => row.settled_at?.toISOString() ?? null),
    rows.map((row) => row.expires_at?.toISOString() ?? null),
    now,
  ])
  assert(inserted === rows.length, 'every transaction of a batch was written')
}

/** The version counts on from what is there: other rooms note disputes in these rows. */
export async function updateTransactions(
  tx: Tx,
  changed: ReadonlyMap<TransactionRow, bigint>,
  now: Date,
): Promise<void> {
  const rows = [...changed.keys()].sort(byKey)
  if (rows.length === 0) return
  const updated = await tx.run(
    `update transactions t
        set status = w.status, amount_minor = w.amount_minor, amount_micros = w.amount_micros,
            open_micros = w.open_micros, held_micros = w.held_micros,
            captured_micros = w.captured_micros, refunded_micros = w.refunded_micros,
            settled_at = w.settled_at, expires_at = w.expires_at,
            version = t.version + w.changes, updated_at = $13
       from unnest($1::text[], $2::text[], $3::text[], $4::bigint[], $5::bigint[], $6::bigint[],
                   $7::bigint[], $8::bigint[], $9::bigint[], $10::timestamptz[],
                   $11::timestamptz[], $12::bigint[])
              as w (account_id, id, status, amount_minor, amount_micros, open_micros, held_micros,
                    captured_micros, refunded_micros, settled_at, expires_at, changes)
      where t.account_id = w.account_id and t.id = w.id`,
    [
      rows.map((row) => row.account_id),
      rows.map((row) => row.id),
      rows.map((row) => row.status),
      rows.map((row) => row.amount_minor),
      rows.map((row) => row.amount_micros),
      rows.map((row) => row.open_micros),
      rows.map((row) => row.held_micros),
      rows.map((row) => row.captured_micros),
      rows.map((row) => row.refunded_micros),
      rows.map((row) => row.settled_at?.toISOString() ?? null),
      rows.map((row) => row.expires_at?.toISOString() ?? null),
      rows.map((row) => changed.get(row) ?? 0n),
      now,
    ],
  )
  assert(updated === rows.length, 'every changed transaction was there')
}

function byKey(a: TransactionRow, b: TransactionRow): number {
  if (a.account_id !== b.account_id) return a.account_id < b.account_id ? -1 : 1
  return a.id < b.id ? -1 : 1
}

const COUNT_UP = `
  insert into card_spending as s (account_id, card_id, day, spent_micros)
  select * from unnest($1::text[], $2::text[], $3::date[], $4::bigint[])
      on conflict (account_id, card_id, day)
      do update set spent_micros = s.spent_micros + excluded.spent_micros`

const COUNT_DOWN = `
  update card_spending s set spent_micros = s.spent_micros + w.micros
    from unnest($1::text[], $2::text[], $3::date[], $4::bigint[])
           as w (account_id, card_id, day, micros)
   where s.account_id = w.account_id and s.card_id = w.card_id and s.day = w.day`

/** What is given back was counted before, so its row is there. */
export async function writeSpending(tx: Tx, changes: Iterable<SpendingChange>): Promise<void> {
  const sorted = [...changes].sort((a, b) => (spendingKey(a) < spendingKey(b) ? -1 : 1))
  const up = sorted.filter(({ micros }) => micros > 0n)
  const down = sorted.filter(({ micros }) => micros < 0n)
  const columns = (rows: readonly SpendingChange[]) => [
    rows.map(({ account_id }) => account_id),
    rows.map(({ card_id }) => card_id),
    rows.map(({ day }) => day),
    rows.map(({ micros }) => micros),
  ]
  await Promise.all([
    up.length > 0 && tx.run(COUNT_UP, columns(up)),
    down.length > 0 && tx.run(COUNT_DOWN, columns(down)),
  ])
}

const spendingKey = ({ account_id, card_id, day }: SpendingChange) =>
  `${account_id}|${card_id}|${day}`

export type AnsweredMessage = {
  request: CardRequest
  answer: KeptAnswer
  transaction: TransactionRow | null
}

const INSERT_MESSAGES = `
  insert into network_messages (identity, link, fingerprint, account_id, card_id, transaction_id,
         mti, bitmap, fields, raw, response_mti, response_fields, response_code, answer,
         received_at)
  select * from unnest($1::text[], $2::text[], $3::text[], $4::text[], $5::text[], $6::text[],
         $7::text[], $8::text[], $9::text[], $10::bytea[], $11::text[], $12::text[], $13::text[],
         $14::bytea[], $15::timestamptz[])
      on conflict do nothing`

/**
 * The last statement of a batch. True where another node has answered one of these meanwhile, which
 * only a card that nobody knows makes possible: the batch is then done again, and finds it.
 */
export async function insertMessages(tx: Tx, messages: readonly AnsweredMessage[]) {
  const rows = messages
    .flatMap(({ request, ...rest }) =>
      request.message === null ? [] : [{ request, message: request.message, ...rest }],
    )
    .sort((a, b) => (a.request.identity < b.request.identity ? -1 : 1))
  if (rows.length === 0) return false
  const inserted = await tx.run(INSERT_MESSAGES, [
    rows.map(({ request }) => request.identity),
    rows.map(({ request }) => request.link),
    rows.map(({ request }) => request.fingerprint),
    rows.map(({ transaction }) => transaction?.account_id ?? null),
    rows.map(({ transaction }) => transaction?.card_id ?? null),
    rows.map(({ transaction }) => transaction?.id ?? null),
    rows.map(({ message }) => message.mti),
    rows.map(({ message }) => message.bitmap),
    rows.map(({ message }) => message.fields),
    rows.map(({ message }) => message.raw),
    rows.map(({ answer }) => answer.mti),
    rows.map(({ answer }) => JSON.stringify(answer.fields)),
    rows.map(({ answer }) => answer.response_code),
    rows.map(({ answer }) => answer.kept_bytes),
    rows.map(({ request }) => request.received_at.toISOString()),
  ])
  return inserted < rows.length
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
