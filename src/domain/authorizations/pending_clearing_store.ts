import type { Micros } from '#kernel/money.ts'
import type { Tx } from '#platform/postgres/db.ts'
import { type PageInput, type PageOf, readPage } from '#platform/postgres/page.ts'
import type { PendingClearing } from './batch_state.ts'
import {
  type CardRequest,
  type StoredMessage,
  type StoredResponse,
  UNKNOWN_CURRENCY,
} from './request.ts'

/** The fields of a request that can't be looked up when it is booked. */
type KeptRequest = Pick<
  CardRequest,
  'kind' | 'link' | 'fingerprint' | 'merchant' | 'entry' | 'reference' | 'is_final'
> & { network_transaction_id: string | null; fx_rate: string | null }

export type PendingClearingRow = {
  account_id: string
  id: string
  card_id: string
  kind: 'advise' | 'capture' | 'refund'
  amount_minor: bigint
  currency: string
  merchant_name: string
  amount_micros: Micros | null
  waits_for: PendingClearing['waits_for']
  approved_at: Date | null
  refused_at: Date | null
  created_at: Date
}

const COLUMNS = `account_id, id, card_id, kind, amount_minor, currency, merchant_name,
  amount_micros, waits_for, approved_at, refused_at, created_at`

const IS_WAITING = 'settled_at is null and refused_at is null'

/** One at a time, because networks that bill in USD send the amount. */
export async function insertPendingClearings(
  tx: Tx,
  pending_clearings: readonly PendingClearing[],
  now: Date,
) {
  for (const { id, card, request, waits_for } of pending_clearings) {
    const { kind, link, fingerprint, merchant, entry, reference, is_final, charge } = request
    const { network_transaction_id } = request
    const fields = { kind, link, fingerprint, merchant, entry, reference, is_final }
    const kept: KeptRequest = { ...fields, network_transaction_id, fx_rate: charge.fx_rate }
    await tx.run(
      `insert into pending_clearings (account_id, id, card_id, kind, amount_minor, currency,
              merchant_name, request, message_identity, waits_for, amount_micros, created_at)
       values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12)`,
      [
        card.account_id,
        id,
        card.id,
        kind,
        charge.minor,
        charge.currency ?? UNKNOWN_CURRENCY,
        merchant.merchant_name,
        JSON.stringify(kept),
        request.identity,
        waits_for,
        waits_for === 'review' ? charge.micros : null,
        now,
      ],
    )
  }
}

export function pageOfConversions(tx: Tx, input: PageInput): Promise<PageOf<PendingClearingRow>> {
  return readPage(tx, {
    operation: 'operator_list_conversions',
    prefix: 'txn',
    select: `select ${COLUMNS} from pending_clearings`,
    where: [[`waits_for = 'conversion' and ${IS_WAITING}`]],
    input,
  })
}

/** Held refunds without a decision. */
export function pageOfHeldRefunds(tx: Tx, input: PageInput): Promise<PageOf<PendingClearingRow>> {
  return readPage(tx, {
    operation: 'operator_list_held_refunds',
    prefix: 'txn',
    select: `select ${COLUMNS} from pending_clearings`,
    where: [[`waits_for = 'review' and approved_at is null and ${IS_WAITING}`]],
    input,
  })
}

/** Null if the clearing does not await this. */
export async function lockWaiting(
  tx: Tx,
  id: string,
  waits_for: PendingClearing['waits_for'],
): Promise<PendingClearingRow | null> {
  const [row] = await tx.rows<PendingClearingRow>(
    `select ${COLUMNS} from pending_clearings
      where id = $1 and waits_for = $2 and approved_at is null and ${IS_WAITING} for update`,
    [id, waits_for],
  )
  return row ?? null
}

export async function decideRefund(
  tx: Tx,
  { account_id, id }: PendingClearingRow,
  decided: Pick<PendingClearingRow, 'approved_at' | 'refused_at'>,
): Promise<void> {
  await tx.run(
    `update pending_clearings set approved_at = $3, refused_at = $4
      where account_id = $1 and id = $2`,
    [account_id, id, decided.approved_at, decided.refused_at],
  )
}

export async function setPrice(tx: Tx, { account_id, id }: PendingClearingRow, micros: Micros) {
  await tx.run(
    'update pending_clearings set amount_micros = $3 where account_id = $1 and id = $2',
    [account_id, id, micros],
  )
}

export type PricedRow = Pick<
  PendingClearingRow,
  'account_id' | 'id' | 'amount_minor' | 'currency'
> & {
  amount_micros: Micros
  pan_hash: string
  message_identity: string
  request: KeptRequest
  received_at: Date
} & StoredMessage & {
    response_mti: string
    response_fields: StoredResponse['fields']
    response_code: StoredResponse['response_code']
    answer: Buffer
  }

/** Clearings that an operator has converted or approved, with their messages. */
export function findPriced(tx: Tx): Promise<PricedRow[]> {
  return tx.rows<PricedRow>(
    `select u.account_id, u.id, u.amount_minor, u.currency, u.amount_micros, u.request, c.pan_hash,
            u.message_identity, m.mti, m.raw, m.fields, m.response_mti,
            m.response_fields::jsonb as response_fields, m.response_code, m.answer, m.received_at
       from pending_clearings u
       join cards c on c.account_id = u.account_id and c.id = u.card_id
       join network_messages m on m.identity = u.message_identity
      where u.settled_at is null and u.refused_at is null and u.amount_micros is not null
        and (u.waits_for = 'conversion' or u.approved_at is not null)
      order by u.id
      limit 100`,
  )
}

/** Links the message to its transaction, so that a reversal finds it. */
export async function markSettled(
  tx: Tx,
  row: Pick<PricedRow, 'account_id' | 'id' | 'message_identity'>,
  settled: { now: Date; identity: string },
): Promise<void> {
  await tx.run(
    `with named as (
       update network_messages m
          set account_id = booked.account_id, transaction_id = booked.transaction_id
         from network_messages booked where booked.identity = $4 and m.identity = $5)
     update pending_clearings set settled_at = $3
      where account_id = $1 and id = $2 and refused_at is null`,
    [row.account_id, row.id, settled.now, settled.identity, row.message_identity],
  )
}
