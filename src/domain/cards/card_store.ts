import type { Card } from '#contract/cards.ts'
import { notFound } from '#contract/common_problems.ts'
import { purseSql } from '#domain/ledger/balances.ts'
import { assert } from '#kernel/assert.ts'
import { texts, timestamps } from '#platform/postgres/columns.ts'
import type { Tx } from '#platform/postgres/db.ts'
import { type Condition, type PageInput, type PageOf, readPage } from '#platform/postgres/page.ts'
import { countedWrite, type Write } from '#platform/postgres/write.ts'
import { type CardFunds, type CardRow, cardView, type FundedCard } from './card.ts'
import { spendingWindow } from './limits.ts'

const COLUMNS = `account_id, id, client_id, bin, last4, brand, type, status, name, exp_month,
  exp_year, wallet,
  per_transaction_micros, daily_micros, monthly_micros, mcc_allow, mcc_deny, geo_allow, geo_deny,
  usage, merchant_lock_name, merchant_lock_id, valid_until, shipping, replaces, replaced_by,
  frozen_by, cancel_reason, frozen_at, cancelled_at, metadata, version, created_at, updated_at`

export type CardKey = Pick<CardRow, 'account_id' | 'id'>

/** Another account's card gets the same error as a missing one, so ids cannot be probed. */
function requireFound<Row>(row: Row | undefined): Row {
  if (row === undefined) throw notFound('card')
  return row
}

/** Takes the same lock as authorizations. Lock the card before its purses. */
export async function lockCardOf(tx: Tx, account_id: string, id: string): Promise<CardRow> {
  const [row] = await tx.rows<CardRow>(
    `select ${COLUMNS} from cards where account_id = $1 and id = $2 for update`,
    [account_id, id],
  )
  return requireFound(row)
}

/** Complete rows of cards of any accounts; locks none. */
export function findCardRows(tx: Tx, cards: readonly CardKey[]): Promise<CardRow[]> {
  return tx.rows<CardRow>(
    `select c.* from unnest($1::text[], $2::text[]) as w (account_id, id)
      cross join lateral (
              select ${COLUMNS} from cards where account_id = w.account_id and id = w.id
              offset 0) c`,
    [texts(cards, ({ account_id }) => account_id), texts(cards, ({ id }) => id)],
  )
}

const SELECT_WITH_FUNDS = `
  select c.*, coalesce(purse.balance_micros, 0) as balance_micros,
         coalesce(purse.held_micros, 0) as held_micros,
         case when purse.spent_day >= $3 then purse.day_spent_micros else 0 end
           as spent_day_micros,
         case when purse.spent_day >= $4 then purse.month_spent_micros else 0 end
           as spent_month_micros
    from (select ${COLUMNS} from cards where account_id = $1 and id = any($2)) c
    left join lateral (${purseSql('card', 'c.account_id', 'c.id')}) purse on true`

/** Reads cards and their balances in one statement, so both are from the same snapshot. */
async function findCards(
  tx: Tx,
  account_id: string,
  { ids, now }: { ids: readonly string[]; now: Date },
): Promise<FundedCard[]> {
  const { day, month_start } = spendingWindow(now)
  return tx.rows<FundedCard>(SELECT_WITH_FUNDS, [account_id, ids, day, month_start])
}

export async function findCardOf(tx: Tx, { account_id, id }: CardKey, now: Date) {
  const [row] = await findCards(tx, account_id, { ids: [id], now })
  return requireFound(row)
}

/** The result stays valid while the card is locked. */
export async function findFunds(tx: Tx, card: CardKey, now: Date): Promise<CardFunds> {
  return findCardOf(tx, card, now)
}

export async function showCard(tx: Tx, card: CardKey, now: Date): Promise<Card> {
  return cardView(await findCardOf(tx, card, now), now)
}

type CardPageInput = {
  account_id: string
  input: PageInput
  where: readonly Condition[]
  now: Date
}

export async function readCardPage(tx: Tx, query: CardPageInput): Promise<PageOf<Card>> {
  const { account_id, input, where, now } = query
  const page = await readPage<{ id: string }>(tx, {
    operation: 'list_cards',
    prefix: 'card',
    select: 'select id from cards',
    where: [['account_id = ?', account_id], ...where],
    input,
  })
  const ids = page.data.map(({ id }) => id)
  const found = await findCards(tx, account_id, { ids, now })
  const cards = new Map(found.map((card) => [card.id, card]))
  const data = ids.map((id) => cardView(requireFound(cards.get(id)), now))
  return { ...page, data }
}

/** True if one of these cards replaced the card, directly or after others. */
export async function isReplacedByOneOf(
  tx: Tx,
  { account_id, id }: CardKey,
  card_ids: readonly string[],
): Promise<boolean> {
  const rows = await tx.rows(
    `with recursive chain as (
       select id, replaced_by from cards where account_id = $1 and id = $2
       union all
       select c.id, c.replaced_by from cards c
         join chain on c.account_id = $1 and c.id = chain.replaced_by)
     select 1 from chain where id = any($3) limit 1`,
    [account_id, id, card_ids],
  )
  return rows.length > 0
}

/** Counts the cards that are not cancelled. Exact only under the account's lock. */
export async function countLiveCards(tx: Tx, account_id: string): Promise<number> {
  const [row] = await tx.rows<{ count: number }>(
    `select count(*)::int as count from cards where account_id = $1 and status <> 'cancelled'`,
    [account_id],
  )
  return row?.count ?? 0
}

export type StoredPan = { pan_sealed: string; pan_hash: string }

type NewCard = Omit<
  CardRow,
  | 'status'
  | 'replaced_by'
  | 'frozen_by'
  | 'cancel_reason'
  | 'frozen_at'
  | 'cancelled_at'
  | 'version'
  | 'updated_at'
> &
  StoredPan

/** Returns undefined if another card has this number; the caller then tries another one. */
export async function insertCard(tx: Tx, card: NewCard): Promise<CardRow | undefined> {
  const columns = Object.keys(card)
  const [row] = await tx.rows<CardRow>(
    `insert into cards (${columns.join(', ')}, updated_at)
     values (${columns.map((_, at) => `$${at + 1}`).join(', ')}, $${columns.length + 1})
         on conflict (pan_hash) do nothing
  returning ${COLUMNS}`,
    [...Object.values(card), card.created_at],
  )
  return row
}

export type CardChange = Partial<
  Pick<
    CardRow,
    | 'status'
    | 'name'
    | 'metadata'
    | 'per_transaction_micros'
    | 'daily_micros'
    | 'monthly_micros'
    | 'mcc_allow'
    | 'mcc_deny'
    | 'geo_allow'
    | 'geo_deny'
    | 'shipping'
    | 'replaced_by'
    | 'frozen_by'
    | 'cancel_reason'
    | 'frozen_at'
    | 'cancelled_at'
  >
>

/** Updates the named columns and increments the version. The card must be locked. */
export async function changeCard(
  tx: Tx,
  card: CardKey,
  { change, now }: { change: CardChange; now: Date },
): Promise<void> {
  const columns = Object.keys(change)
  const changed = await tx.run(
    `update cards set ${columns.map((name, at) => `${name} = $${at + 4}, `).join('')}
            version = version + 1, updated_at = $3
      where account_id = $1 and id = $2`,
    [card.account_id, card.id, now, ...Object.values(change)],
  )
  assert(changed === 1, 'a locked card exists')
}

/** For operators, who know only the card's id. */
export async function lockAnyCard(tx: Tx, id: string): Promise<CardRow> {
  const [row] = await tx.rows<{ account_id: string }>(
    'select account_id from cards where id = $1',
    [id],
  )
  return lockCardOf(tx, requireFound(row).account_id, id)
}

/** The purchase of a single-use card, written with the batch that approved it. */
export function writeUsedCard(card: CardRow): Write {
  const { account_id, id, cancelled_at, shipping, version } = card
  return countedWrite(
    1,
    `update cards set status = 'cancelled', cancel_reason = 'used', cancelled_at = $3,
            updated_at = $3, shipping = $4::jsonb, version = $5
      where account_id = $1 and id = $2`,
    [account_id, id, cancelled_at, shipping === null ? null : JSON.stringify(shipping), version],
  )
}

/** The wrong security codes and expiry dates of a card; the cardholder sees no change of it. */
export function writeFailedAttempts(card: CardKey & { failed_at: readonly Date[] }): Write {
  const { account_id, id, failed_at } = card
  return countedWrite(1, 'update cards set failed_at = $3 where account_id = $1 and id = $2', [
    account_id,
    id,
    timestamps(failed_at, (at) => at),
  ])
}

type LockedToMerchant = CardKey & Pick<CardRow, 'merchant_lock_name' | 'merchant_lock_id'>

/** The lock that the first approved authorization of a card sets. */
export function writeMerchantLock(card: LockedToMerchant, now: Date): Write {
  const { account_id, id, merchant_lock_name, merchant_lock_id } = card
  return countedWrite(
    1,
    `update cards set merchant_lock_name = $3, merchant_lock_id = $4, updated_at = $5,
            version = version + 1
      where account_id = $1 and id = $2`,
    [account_id, id, merchant_lock_name, merchant_lock_id, now],
  )
}
