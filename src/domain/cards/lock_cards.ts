import { texts } from '#platform/postgres/columns.ts'
import type { Tx } from '#platform/postgres/db.ts'
import type { SpendLimits } from '#settings/spend_limit_settings.ts'
import type { CardRow } from './card.ts'

export type LockedCard = Pick<
  CardRow,
  | 'account_id'
  | 'id'
  | 'brand'
  | 'status'
  | 'last4'
  | 'exp_month'
  | 'exp_year'
  | 'mcc_allow'
  | 'mcc_deny'
  | 'geo_allow'
  | 'geo_deny'
  | 'per_transaction_micros'
  | 'daily_micros'
  | 'monthly_micros'
  | 'replaced_by'
  | 'usage'
  | 'merchant_lock_name'
  | 'merchant_lock_id'
  | 'valid_until'
  | 'cancel_reason'
> & {
  pan_hash: string
  /** Wrong security codes and expiry dates of the last day. */
  failed_at: Date[]
  account_status: string
  spend_limits: Partial<SpendLimits>
}

/** An advice about a replaced card counts on the last card of its chain, so that is locked too. */
const AND_SUCCESSORS = `any(array(
  with recursive chain as (
    select account_id, pan_hash, replaced_by from cards where pan_hash = any($1)
    union all
    select n.account_id, n.pan_hash, n.replaced_by
      from chain o
     cross join lateral (
             select account_id, pan_hash, replaced_by from cards
              where account_id = o.account_id and id = o.replaced_by
             offset 0) n
     where o.replaced_by is not null
  ) select pan_hash from chain))`

/** The cards of an authorization batch, by the hash of their number. */
export type BatchCards = {
  pan_hashes: readonly string[]
  with_successors: boolean
  /** Leaves out cards that another transaction has locked, instead of waiting for them. */
  skips_busy: boolean
}

/** Both texts of a statement, built once: only batches with advices follow chains. */
export function batchCardsSql(sqlFor: (numbers: string) => string) {
  const [own, chains] = [sqlFor('any($1)'), sqlFor(AND_SUCCESSORS)]
  return ({ with_successors }: BatchCards) => (with_successors ? chains : own)
}

/**
 * Locks cards in key order, as every transaction with several cards does. The account is only read:
 * an operator's change counts from the next batch on. After a wait only the locked rows are read
 * anew, so anything else that a batch changes under this lock must be read by a later statement.
 * The look-up of the account is a subquery of its own, so it always uses its key: a join planned
 * while the table was nearly empty would scan it for every card.
 */
const lockSql = (wait: '' | 'skip locked') =>
  batchCardsSql(
    (numbers) =>
      `select c.account_id, c.id, c.pan_hash, c.brand, c.status, c.last4, c.exp_month, c.exp_year,
            c.mcc_allow, c.mcc_deny, c.geo_allow, c.geo_deny, c.per_transaction_micros,
            c.daily_micros, c.monthly_micros, c.replaced_by, c.usage, c.merchant_lock_name,
            c.merchant_lock_id, c.valid_until, c.cancel_reason, c.failed_at, a.account_status,
            a.spend_limits
       from cards c
      cross join lateral (
              select status as account_status, spend_limits from accounts
               where id = c.account_id
              offset 0) a
      where c.pan_hash = ${numbers}
      order by c.account_id, c.id
        for no key update of c ${wait}`,
  )

const lock_waiting = lockSql('')
const lock_free = lockSql('skip locked')

export function lockCards(tx: Tx, cards: BatchCards): Promise<LockedCard[]> {
  const sql = cards.skips_busy ? lock_free(cards) : lock_waiting(cards)
  return tx.rows<LockedCard>(sql, [texts(cards.pan_hashes, (hash) => hash)])
}

/** The cards that no transaction has locked. Its own locks end with the statement. */
export function findUnlockedCards(
  db: Tx,
  pan_hashes: readonly string[],
): Promise<{ pan_hash: string }[]> {
  return db.rows(
    `select pan_hash from cards where pan_hash = any($1)
      order by account_id, id for no key update skip locked`,
    [texts(pan_hashes, (hash) => hash)],
  )
}

export type CardKey = { account_id: string; card_id: string }

/** Locks those of the cards that no other transaction has locked. */
export function lockFreeCards(tx: Tx, cards: readonly CardKey[]): Promise<CardKey[]> {
  return tx.rows<CardKey>(
    `select c.account_id, c.id as card_id
       from unnest($1::text[], $2::text[]) as w (account_id, card_id)
       join cards c on c.account_id = w.account_id and c.id = w.card_id
      order by c.account_id, c.id
        for no key update of c skip locked`,
    [texts(cards, ({ account_id }) => account_id), texts(cards, ({ card_id }) => card_id)],
  )
}
