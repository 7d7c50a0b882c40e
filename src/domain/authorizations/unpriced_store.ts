import { Problem } from '#contract/problem.ts'
import type { Micros } from '#kernel/money.ts'
import type { Tx } from '#platform/db.ts'
import { type PageInput, type PageOf, readPage } from '#platform/page.ts'
import type { CardRequest, KeptAnswer, KeptMessage } from './request.ts'
import type { Unpriced } from './work.ts'

/** What is kept of a request: all that cannot be looked up again when it is booked. */
type KeptRequest = Pick<
  CardRequest,
  'kind' | 'link' | 'fingerprint' | 'merchant' | 'entry' | 'reference' | 'is_final'
> & { network_transaction_id: string | null; fx_rate: string | null }

export type UnpricedRow = {
  account_id: string
  id: string
  card_id: string
  kind: 'advise' | 'capture' | 'refund'
  amount_minor: bigint
  currency: string
  merchant_name: string
  amount_micros: Micros | null
  created_at: Date
}

const COLUMNS = `account_id, id, card_id, kind, amount_minor, currency, merchant_name,
  amount_micros, created_at`

/** They are rare: a network that bills in dollars says them. */
export async function insertUnpriced(tx: Tx, unpriced: readonly Unpriced[], now: Date) {
  for (const { id, card, request } of unpriced) {
    const { kind, link, fingerprint, merchant, entry, reference, is_final, charge } = request
    const { network_transaction_id } = request
    const told = { kind, link, fingerprint, merchant, entry, reference, is_final }
    const kept: KeptRequest = { ...told, network_transaction_id, fx_rate: charge.fx_rate }
    await tx.run(
      `insert into unpriced_clearings (account_id, id, card_id, kind, amount_minor, currency,
              merchant_name, request, message_identity, created_at)
       values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)`,
      [
        card.account_id,
        id,
        card.id,
        kind,
        charge.minor,
        charge.currency ?? '???',
        merchant.merchant_name,
        JSON.stringify(kept),
        request.identity,
        now,
      ],
    )
  }
}

export function pageOfUnpriced(tx: Tx, input: PageInput): Promise<PageOf<UnpricedRow>> {
  return readPage(tx, {
    operation: 'operator.list_unpriced_clearings',
    prefix: 'txn',
    select: `select ${COLUMNS} from unpriced_clearings`,
    where: [['settled_at is null']],
    input,
  })
}

export async function lockUnpriced(tx: Tx, id: string): Promise<UnpricedRow> {
  const [row] = await tx.rows<UnpricedRow>(
    `select ${COLUMNS} from unpriced_clearings where id = $1 and settled_at is null for update`,
    [id],
  )
  if (row === undefined) throw new Problem('not_found', 'No such clearing waits for its dollars.')
  return row
}

export async function setPrice(tx: Tx, { account_id, id }: UnpricedRow, micros: Micros) {
  await tx.run(
    'update unpriced_clearings set amount_micros = $3 where account_id = $1 and id = $2',
    [account_id, id, micros],
  )
}

export type PricedRow = Pick<UnpricedRow, 'account_id' | 'id' | 'amount_minor' | 'currency'> & {
  amount_micros: Micros
  pan_hash: string
  request: KeptRequest
  received_at: Date
} & KeptMessage & {
    response_mti: string
    response_fields: string
    response_code: KeptAnswer['response_code']
    answer: Buffer
  }

/** Those that have been given their dollars, with the message they came by. */
export function findPriced(tx: Tx): Promise<PricedRow[]> {
  return tx.rows<PricedRow>(
    `select u.account_id, u.id, u.amount_minor, u.currency, u.amount_micros, u.request, c.pan_hash,
            m.mti, m.bitmap, m.fields, m.raw, m.response_mti, m.response_fields, m.response_code,
            m.answer, m.received_at
       from unpriced_clearings u
       join cards c on c.account_id = u.account_id and c.id = u.card_id
       join network_messages m on m.identity = u.message_identity
      where u.settled_at is null and u.amount_micros is not null
      order by u.id
      limit 100`,
  )
}

export async function markSettled(tx: Tx, { account_id, id }: PricedRow, now: Date): Promise<void> {
  await tx.run('update unpriced_clearings set settled_at = $3 where account_id = $1 and id = $2', [
    account_id,
    id,
    now,
  ])
}
