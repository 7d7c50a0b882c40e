import { keyOfText } from '#platform/postgres/advisory_key.ts'
import type { Database, Tx } from '#platform/postgres/db.ts'
import type { SignedTransaction, StoreSigned } from '#rails/x402/facilitator.ts'
import { NETWORK, USDC } from '#rails/x402/requirement.ts'
import type { Bill, PaymentRow, PaymentState } from './payment.ts'

export async function findPayment(
  tx: Tx,
  { payer, nonce }: { payer: string; nonce: string },
): Promise<PaymentRow | undefined> {
  const [row] = await tx.rows<PaymentRow>(
    `select * from x402_payments
      where network = $1 and asset = $2 and payer = $3 and nonce = $4`,
    [NETWORK, USDC, payer, nonce],
  )
  return row
}

/** The payment of the response that is stored under an Idempotency-Key. */
export async function findSpent(tx: Tx, fingerprint: string): Promise<PaymentRow | undefined> {
  const [row] = await tx.rows<PaymentRow>(
    `select * from x402_payments where fingerprint = $1 and state = 'spent'
      order by created_at desc limit 1`,
    [fingerprint],
  )
  return row
}

const UNSENT = `('reserved', 'failed')`

type Reservation = { id: string; now: Date; leased_until: Date }

/**
 * Leases the payment to one call; undefined if another call has it. A payment that was never sent
 * can pay for any call, one that may have been sent only for its own request. Once sent, its terms
 * stay: a retry with another amount, signature or expiry changes nothing.
 */
export async function reservePayment(
  tx: Tx,
  { payment, priced, ...bill }: Bill,
  { id, now, leased_until }: Reservation,
): Promise<PaymentRow | undefined> {
  const [row] = await tx.rows<PaymentRow>(
    `insert into x402_payments as p (id, network, asset, payer, nonce, amount_micros, pay_to,
            valid_before, account_id, operation, request_id, fingerprint, state, payload,
            leased_until, created_at, updated_at)
     values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, 'reserved', $13, $14, $15, $15)
         on conflict (network, asset, payer, nonce) do update
        set account_id = excluded.account_id, operation = excluded.operation,
            request_id = excluded.request_id, fingerprint = excluded.fingerprint,
            amount_micros = excluded.amount_micros,
            payload = case when p.state in ${UNSENT} then excluded.payload else p.payload end,
            pay_to = case when p.state in ${UNSENT} then excluded.pay_to else p.pay_to end,
            valid_before = case when p.state in ${UNSENT} then excluded.valid_before
                                else p.valid_before end,
            state = case when p.state = 'failed' then 'reserved' else p.state end,
            state_reason = null, leased_until = excluded.leased_until,
            updated_at = excluded.updated_at
      where p.leased_until <= excluded.updated_at
        and (p.state in ${UNSENT}
             or (p.state in ('settling', 'settled') and p.fingerprint = excluded.fingerprint
                 and p.amount_micros = excluded.amount_micros))
     returning *`,
    [
      id,
      NETWORK,
      USDC,
      payment.payer,
      payment.nonce,
      payment.amount_micros,
      priced.pay_to,
      payment.valid_before,
      bill.account_id,
      bill.operation,
      bill.request_id,
      bill.fingerprint,
      JSON.stringify(payment.payload),
      leased_until,
      now,
    ],
  )
  return row
}

type StateChange = {
  from: readonly PaymentState[]
  to: PaymentState
  reason?: string
  txid?: string
}

/** Changes a payment's state. False if it has left the `from` states or another call has it. */
export async function stepPayment(
  tx: Tx,
  { id, request_id }: Pick<PaymentRow, 'id' | 'request_id'>,
  { from, to, reason, txid }: StateChange,
  now: Date,
): Promise<boolean> {
  const changed = await tx.run(
    `update x402_payments
        set state = $4, state_reason = coalesce($5, state_reason), txid = coalesce($6, txid),
            settled_at = case when $4 = 'settled' then $7 else settled_at end, updated_at = $7
      where id = $1 and request_id = $2 and state = any($3)`,
    [id, request_id, from, to, reason ?? null, txid ?? null, now],
  )
  return changed === 1
}

/** Ends the lease of a call, so a retry or the task can take the payment. */
export async function releasePayment(tx: Tx, row: PaymentRow, now: Date): Promise<void> {
  await tx.run(
    `update x402_payments set leased_until = $3
      where id = $1 and request_id = $2 and leased_until > $3`,
    [row.id, row.request_id, now],
  )
}

/** Leases payments in this state whose lease ended before `before`. No other node gets them. */
export function takeOpenPayments(
  tx: Tx,
  state: PaymentState,
  { before, leased_until, now }: { before: Date; leased_until: Date; now: Date },
): Promise<PaymentRow[]> {
  return tx.rows<PaymentRow>(
    `update x402_payments p set leased_until = $3, updated_at = $4
       from (select id from x402_payments where state = $1 and leased_until <= $2
              order by leased_until limit 20 for update skip locked) open
      where p.id = open.id
     returning p.*`,
    [state, before, leased_until, now],
  )
}

export type TransferRow = {
  txid: string
  raw: string
  payment_id: string
  purpose: 'settlement' | 'refund'
  state: 'signed' | 'mined' | 'reverted'
}

export function findTransfers(
  tx: Tx,
  payment_id: string,
  purpose: TransferRow['purpose'],
): Promise<TransferRow[]> {
  return tx.rows<TransferRow>(
    `select txid, raw, payment_id, purpose, state from x402_transfers
      where payment_id = $1 and purpose = $2 order by nonce`,
    [payment_id, purpose],
  )
}

type PaymentTransfer = { row: PaymentRow; purpose: TransferRow['purpose']; now: Date }

/**
 * Stores the signed transfer and the payment's next state together. The lock on the relayer's
 * address covers one signature and one commit, so two nodes neither share nor skip a nonce.
 */
export function signedStore(db: Database, { row, purpose, now }: PaymentTransfer): StoreSigned {
  const step =
    purpose === 'settlement'
      ? ({ from: ['reserved'], to: 'settling' } as const)
      : ({ from: ['owed'], to: 'refunding' } as const)
  return (relayer, mined, sign) =>
    db.transaction(async (tx) => {
      await tx.rows(`select pg_advisory_xact_lock(${keyOfText(2)})`, [relayer])
      const [last] = await tx.rows<{ next: bigint | null }>(
        'select max(nonce) + 1 as next from x402_transfers where network = $1 and relayer = $2',
        [NETWORK, relayer],
      )
      const next = last?.next ?? 0n
      const signed = await sign(next > mined ? next : mined)
      if (!(await stepPayment(tx, row, step, now))) {
        throw new Error('the payment changed its state before it was signed')
      }
      await insertTransfer(tx, { ...signed, relayer, payment_id: row.id, purpose, now })
      return signed
    })
}

type NewTransfer = SignedTransaction &
  Pick<TransferRow, 'payment_id' | 'purpose'> & { relayer: string; now: Date }

async function insertTransfer(tx: Tx, transfer: NewTransfer): Promise<void> {
  const { relayer, nonce, payment_id, purpose, txid, raw, now } = transfer
  await tx.run(
    `insert into x402_transfers (network, relayer, nonce, payment_id, purpose, txid, raw,
            created_at)
     values ($1, $2, $3, $4, $5, $6, $7, $8)`,
    [NETWORK, relayer, nonce, payment_id, purpose, txid, raw, now],
  )
}

export type MinedTransfer = { ok: boolean; fee_wei: bigint; fee_micros: bigint }

/** True only the first time, so the fee is booked once. */
export async function markMined(
  tx: Tx,
  txid: string,
  { ok, fee_wei, fee_micros }: MinedTransfer,
  now: Date,
): Promise<boolean> {
  const changed = await tx.run(
    `update x402_transfers set state = $2, fee_wei = $3, fee_micros = $4, mined_at = $5
      where txid = $1 and state = 'signed'`,
    [txid, ok ? 'mined' : 'reverted', fee_wei.toString(), fee_micros, now],
  )
  return changed === 1
}

/** Signed transfers that are not known to be mined; a crash may have kept them from being sent. */
export async function findUnminedRaws(tx: Tx, before: Date): Promise<string[]> {
  const rows = await tx.rows<{ raw: string }>(
    `select raw from x402_transfers where state = 'signed' and created_at <= $1
      order by nonce limit 100`,
    [before],
  )
  return rows.map(({ raw }) => raw)
}
