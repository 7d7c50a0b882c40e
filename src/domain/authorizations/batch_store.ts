import { type BatchCards, batchCardsSql, type LockedCard } from '#domain/cards/lock_cards.ts'
import type { LastEvent } from '#domain/events/account_sequence_store.ts'
import { purseSql } from '#domain/ledger/balances.ts'
import type { PurseRow, SpentAmounts } from '#domain/ledger/ledger_store.ts'
import type { TransactionRow } from '#domain/transactions/transaction.ts'
import { TRANSACTION_COLUMNS } from '#domain/transactions/transaction_store.ts'
import { idFloor } from '#kernel/id.ts'
import { type Micros, microsFromUsd } from '#kernel/money.ts'
import { texts } from '#platform/postgres/columns.ts'
import type { Tx } from '#platform/postgres/db.ts'
import type { SpendLimits } from '#settings/spend_limit_settings.ts'
import type { CardState, ChallengeState } from './card_state.ts'
import type { CardRequest } from './request.ts'

/** The reads of a batch. They are sent together, after the statement that locks the cards. */

/** All columns are null for a purse that was never used; a locked one is created. */
type PurseSnapshot = Pick<
  PurseRow,
  'balance_micros' | 'held_micros' | 'holds_expire_at' | keyof SpentAmounts
>
type NoPurse = { [Column in keyof PurseSnapshot]: null }

export type CardSnapshot = (PurseSnapshot | NoPurse) &
  LastEvent & {
    id: string
    pan_hash: string
    owed_micros: Micros
  }

/** Balance, holds and spending of each card, and its account's debt and last event. */
const snapshotSql = batchCardsSql(
  (numbers) =>
    `select c.id, c.pan_hash, p.balance_micros, p.held_micros, p.holds_expire_at,
            p.spent_day::text, p.day_spent_micros, p.month_spent_micros,
            coalesce((select -d.balance_micros
                        from (${purseSql('receivable', 'c.account_id')}) d), 0) as owed_micros,
            h.event_sequence, h.last_event_id
       from cards c
       join account_sequences h on h.account_id = c.account_id
       left join lateral (
              ${purseSql('card', 'c.account_id', 'c.id')}
              offset 0) p on true
      where c.pan_hash = ${numbers}`,
)

export function findCardSnapshots(tx: Tx, cards: BatchCards): Promise<CardSnapshot[]> {
  return tx.rows<CardSnapshot>(snapshotSql(cards), [texts(cards.pan_hashes, (hash) => hash)])
}

type MostOf = 'per_transaction_max_usd' | 'daily_max_usd' | 'monthly_max_usd'

/** Spending limits of all cards, unless the account has its own. */
export type ProgramLimits = Record<MostOf, Micros>

export function programLimits(limits: SpendLimits): ProgramLimits {
  return {
    per_transaction_max_usd: microsFromUsd(limits.per_transaction_max_usd),
    daily_max_usd: microsFromUsd(limits.daily_max_usd),
    monthly_max_usd: microsFromUsd(limits.monthly_max_usd),
  }
}

export function toCardState(
  card: LockedCard,
  spent: CardState['spent'],
  program: ProgramLimits,
): CardState {
  const lower = (holders: Micros | null, most: MostOf): Micros => {
    const accounts = card.spend_limits[most]
    const most_micros = accounts === undefined ? program[most] : microsFromUsd(accounts)
    return holders !== null && holders < most_micros ? holders : most_micros
  }
  return {
    account_id: card.account_id,
    id: card.id,
    brand: card.brand,
    status: card.status,
    last4: card.last4,
    exp_month: card.exp_month,
    exp_year: card.exp_year,
    mcc_allow: card.mcc_allow,
    mcc_deny: card.mcc_deny,
    geo_allow: card.geo_allow,
    geo_deny: card.geo_deny,
    usage: card.usage,
    merchant_lock_name: card.merchant_lock_name,
    merchant_lock_id: card.merchant_lock_id,
    valid_until: card.valid_until,
    cancel_reason: card.cancel_reason,
    pan_hash: card.pan_hash,
    is_suspended: card.account_status !== 'active',
    limits: {
      per_transaction: lower(card.per_transaction_micros, 'per_transaction_max_usd'),
      daily: lower(card.daily_micros, 'daily_max_usd'),
      monthly: lower(card.monthly_micros, 'monthly_max_usd'),
    },
    spent,
    failed_at: card.failed_at,
  }
}

export type AnsweredRow = {
  identity: string
  /** Null for a reversal that arrived before its message. */
  fingerprint: string | null
  answer: Buffer | null
  /** The transaction that an authorization message or a stand-in advice made or changed. */
  transaction_id: string | null
  /** False for advices. */
  is_request: boolean
}

/** Messages that already have a response, and those whose reversal arrived first. */
export function findAnswered(tx: Tx, identities: readonly string[]): Promise<AnsweredRow[]> {
  return tx.rows<AnsweredRow>(
    `select identity, fingerprint, answer,
            case when mti like '01%' then transaction_id end as transaction_id,
            mti like '010%' as is_request
       from network_messages where identity = any($1)
     union all
     select identity, null, null, null, false from early_reversals where identity = any($1)`,
    [texts(identities, (identity) => identity)],
  )
}

const CODE_SEARCH_MS = 30 * 24 * 3_600_000

/**
 * `offset 0` keeps the look-ups separate, so each card uses the index that fits. Without it, a plan
 * made while there are no purchases would read all of them for every message.
 */
const FIND_PURCHASES = `
  with asked as materialized (
    select c.account_id, c.id as card_id, w.reference, w.code, w.id
      from unnest($1::text[], $2::text[], $3::text[], $6::text[])
             as w (pan_hash, reference, code, id)
      join cards c on c.pan_hash = w.pan_hash
  ), named as (
    select a.account_id, t.id
      from asked a
     cross join lateral (
             select coalesce(authorization_id, id) as id from transactions
              where account_id = a.account_id and card_id = a.card_id
                and retrieval_reference_number = a.reference
                and (authorization_id is null or authorization_id = id)
             offset 0) t
     where a.reference is not null
    union
    select a.account_id, t.id
      from asked a
     cross join lateral (
             select id from transactions
              where account_id = a.account_id and card_id = a.card_id and id >= $4
                and authorization_code = a.code and type = 'authorization'
             offset 0) t
     where a.code is not null
    union
    select m.account_id, t.id
      from network_messages m
     cross join lateral (
             select coalesce(authorization_id, id) as id from transactions
              where account_id = m.account_id and id = m.transaction_id
             offset 0) t
     where m.identity = any($5::text[])
    union
    select a.account_id, t.id
      from asked a
     cross join lateral (
             select coalesce(authorization_id, id) as id from transactions
              where account_id = a.account_id and id = a.id and card_id = a.card_id
             offset 0) t
     where a.id is not null
  )
  select t.*
    from named n
   cross join lateral (
           select ${TRANSACTION_COLUMNS} from transactions
            where account_id = n.account_id and id = n.id
           offset 0) t
  union all
  select t.*
    from named n
   cross join lateral (
           select ${TRANSACTION_COLUMNS} from transactions
            where account_id = n.account_id and authorization_id = n.id
              and type in ('capture', 'refund')
           offset 0) t`

/** All rows of the purchases that messages refer to; no query if none is named. */
export async function findPurchases(
  tx: Tx,
  requests: readonly CardRequest[],
  now: Date,
): Promise<TransactionRow[]> {
  const naming = requests.filter(({ kind }) => NAMES_A_PURCHASE.has(kind))
  if (naming.length === 0) return []
  return tx.rows<TransactionRow>(FIND_PURCHASES, [
    naming.map(({ pan_hash }) => pan_hash),
    naming.map(({ reference }) => reference.retrieval_reference_number),
    naming.map(({ reference }) => reference.authorization_code),
    idFloor('txn', now.getTime() - CODE_SEARCH_MS),
    naming.flatMap(({ reference }) => reference.original_identity ?? []),
    naming.map(({ reference }) => reference.transaction_id),
  ])
}

const NAMES_A_PURCHASE: ReadonlySet<CardRequest['kind']> = new Set([
  'increment',
  'advise',
  'capture',
  'refund',
  'reverse',
  'expire',
])

export async function findChallenges(
  tx: Tx,
  requests: readonly CardRequest[],
): Promise<ChallengeState[]> {
  const ids = requests.flatMap(({ challenge_id }) => challenge_id ?? [])
  if (ids.length === 0) return []
  return tx.rows<ChallengeState>(
    `select account_id, id, card_id, status, amount_minor, currency, merchant_name, merchant_id,
            decided_at, used_by
       from three_ds_challenges where id = any($1)`,
    [ids],
  )
}
