import { notFound } from '#contract/common_problems.ts'
import type { Caller } from '#domain/context/context.ts'
import type { Tx } from '#platform/postgres/db.ts'
import {
  type Condition,
  isIn,
  type PageInput,
  type PageOf,
  readPage,
} from '#platform/postgres/page.ts'
import type { TransactionRow } from './transaction.ts'

export const TRANSACTION_COLUMNS = `account_id, id, card_id, type, status, authorization_id,
  amount_minor, currency, amount_micros, fx_rate, fee_micros, merchant_name, mcc, merchant_city,
  merchant_country, merchant_id, terminal_id, open_micros, held_micros, captured_micros,
  refunded_micros, decline_code, failed_rules, card_present, entry_mode, wallet, three_ds_result,
  three_ds_challenge_id, network, network_transaction_id, retrieval_reference_number,
  authorization_code, is_single_message, is_stand_in, is_forced, message_identity, dispute_id,
  version, created_at, updated_at, settled_at, expires_at, counted_day::text, counted_day_micros,
  counted_month_micros`

type Owner = Pick<Caller, 'account_id' | 'card_ids'>

const canSeeCard = ({ card_ids }: Owner, card_id: string): boolean =>
  card_ids === null || card_ids.includes(card_id)

export async function findTransactionOf(tx: Tx, owner: Owner, id: string): Promise<TransactionRow> {
  const [row] = await tx.rows<TransactionRow>(
    `select ${TRANSACTION_COLUMNS} from transactions where account_id = $1 and id = $2`,
    [owner.account_id, id],
  )
  if (row === undefined || !canSeeCard(owner, row.card_id)) throw notFound('transaction')
  return row
}

type DisputeReference = Pick<TransactionRow, 'account_id' | 'created_at'> & {
  id: string
  transaction_id: string
}

/** Records on a capture that it is disputed. The card must be locked. */
export async function setDispute(tx: Tx, dispute: DisputeReference): Promise<void> {
  await tx.run(
    `update transactions set dispute_id = $3, version = version + 1, updated_at = $4
      where account_id = $1 and id = $2`,
    [dispute.account_id, dispute.transaction_id, dispute.id, dispute.created_at],
  )
}

/** Merchants' names by transaction, for objects of any account. */
export async function findMerchantNames(
  tx: Tx,
  owners: readonly { account_id: string; transaction_id: string }[],
): Promise<ReadonlyMap<string, string>> {
  const rows = await tx.rows<{ id: string; merchant_name: string }>(
    `select id, merchant_name from transactions
      where (account_id, id) in (select * from unnest($1::text[], $2::text[]))`,
    [
      owners.map(({ account_id }) => account_id),
      owners.map(({ transaction_id }) => transaction_id),
    ],
  )
  return new Map(rows.map(({ id, merchant_name }) => [id, merchant_name]))
}

export async function requireCardOf(tx: Tx, owner: Owner, card_id: string): Promise<void> {
  const [card] = await tx.rows<{ id: string }>(
    'select id from cards where account_id = $1 and id = $2',
    [owner.account_id, card_id],
  )
  if (card === undefined || !canSeeCard(owner, card_id)) throw notFound('card')
}

type ListedTransactions = {
  account_id: string
  /** Null: all cards. */
  card_ids?: readonly string[] | null
  filters?: readonly Condition[]
}

export function readTransactionPage(
  tx: Tx,
  operation: 'list_transactions' | 'list_card_transactions' | 'operator_list_transactions',
  input: PageInput & { authorization_id?: string; dispute_id?: string },
  { account_id, card_ids = null, filters = [] }: ListedTransactions,
): Promise<PageOf<TransactionRow>> {
  const where: Condition[] = [['account_id = ?', account_id], ...filters]
  // A page of each card is bounded only if no other filter keeps rows out of it.
  const isOfCards = card_ids !== null && filters.length === 0
  if (card_ids !== null && !isOfCards) where.push(isIn('card_id', card_ids))
  return readPage(tx, {
    operation,
    prefix: 'txn',
    select: `select ${TRANSACTION_COLUMNS} from transactions`,
    where,
    ...(isOfCards && { each: { column: 'card_id', values: card_ids } }),
    input,
    is_selective: input.authorization_id !== undefined || input.dispute_id !== undefined,
  })
}

export type MessageRow = {
  link: string
  mti: string
  raw: Buffer
  /** Null for a card link, as are the response's. */
  fields: string | null
  response_mti: string
  response_fields: string | null
  response_code: string
  answer: Buffer
  received_at: Date
}

export async function findMessage(tx: Tx, identity: string): Promise<MessageRow | null> {
  const [row] = await tx.rows<MessageRow>(
    `select link, mti, raw, fields, response_mti, response_fields, response_code, answer,
            received_at
       from network_messages where identity = $1`,
    [identity],
  )
  return row ?? null
}
