import { emitAsSystem } from '#domain/audit/emit_as_system.ts'
import type { Task } from '#platform/runtime/tasks.ts'
import { type PaymentRow, type PaymentState, paymentReference } from './payment.ts'
import { LEASE_MS, type PaymentContext, stampOf } from './payment_context.ts'
import { creditAccount, markRefunded, bookRelayerFee } from './payment_money.ts'
import {
  releasePayment,
  signedStore,
  stepPayment,
  takeOpenPayments,
  findTransfers,
  findUnminedRaws,
} from './payment_store.ts'
import { resolveSettlement } from './resolve_settlement.ts'

/** How long whoever has paid may come back for the call before the money goes back instead. */
const GRACE_MS = 10 * 60_000
/** What was sent this lately is still on its way. */
const SENT_LATELY_MS = 5_000

/**
 * Brings every payment to its end whose call has not: crashed between settlement and work, refused
 * after it, or not confirmed in time. Safe on any node: a payment is taken before it is touched.
 */
export function resolvePaymentsTask(payment_context: PaymentContext): Task {
  return {
    name: 'resolve_payments',
    every_ms: 5_000,
    idle_ms: 15_000,
    pass: async () => {
      await sendAgain(payment_context)
      await each(payment_context, 'reserved', 0, (row) =>
        step(payment_context, row, 'failed', 'abandoned'),
      )
      await each(payment_context, 'settling', 0, (row) => resolveSettlement(payment_context, row))
      await each(payment_context, 'settled', GRACE_MS, (row) =>
        step(payment_context, row, 'owed', 'never_called'),
      )
      await each(payment_context, 'owed', 0, (row) => returnPayment(payment_context, row))
      await each(payment_context, 'refunding', 0, (row) => confirmRefund(payment_context, row))
    },
  }
}

async function each(
  payment_context: PaymentContext,
  state: PaymentState,
  grace_ms: number,
  work: (row: PaymentRow) => Promise<unknown>,
): Promise<void> {
  const { db, clock, log } = payment_context
  const now = clock.now()
  const before = new Date(now.getTime() - grace_ms)
  const leased_until = new Date(now.getTime() + LEASE_MS)
  for (const row of await takeOpenPayments(db, state, { before, leased_until, now })) {
    try {
      await work(row)
    } catch (cause) {
      // One payment that cannot be helped now must not hold the others back.
      log.error('a payment is not resolved yet', { payment_id: row.id, state }, cause)
    }
    await releasePayment(db, row, clock.now())
  }
}

/** What the node says to it decides nothing, receipts do; but whoever runs it should hear of it. */
async function sendAgain({ db, clock, network, log }: PaymentContext): Promise<void> {
  const before = new Date(clock.now().getTime() - SENT_LATELY_MS)
  for (const raw of await findUnminedRaws(db, before)) {
    await network?.broadcast(raw).catch((cause: unknown) => {
      log.error('a transfer of the relayer is not taken', {}, cause)
    })
  }
}

function step(
  { db, clock }: PaymentContext,
  row: PaymentRow,
  to: PaymentState,
  reason: string,
): Promise<boolean> {
  return stepPayment(db, row, { from: [row.state], to, reason }, clock.now())
}

/** To the account that called, where there was one; else on the chain, to whoever has paid. */
async function returnPayment(payment_context: PaymentContext, row: PaymentRow): Promise<void> {
  const { db, relayer, screener } = payment_context
  const { account_id, payer, amount_micros } = row
  if (account_id !== null) {
    await db.transaction(async (tx) => {
      if (!(await creditAccount(tx, row, stampOf(payment_context)))) return
      const entry = { action: 'payment.credited', resource: paymentReference(row.id) }
      await emitAsSystem(tx, payment_context, account_id, { entries: [entry] })
    })
    return
  }
  if (relayer === null) return
  const target = { chain: 'base', address: payer, direction: 'out', amount_micros } as const
  const { decision } = await screener.screen(target)
  if (decision !== 'allow') return
  const store = signedStore(db, { row, purpose: 'refund', now: payment_context.clock.now() })
  await relayer.refund(payer, amount_micros, store)
}

async function confirmRefund(payment_context: PaymentContext, row: PaymentRow): Promise<void> {
  const { db, network, clock, settings } = payment_context
  const transfers = await findTransfers(db, row.id, 'refund')
  for (const { txid, state } of transfers) {
    if (state !== 'signed') continue
    const receipt = (await network?.receipt(txid)) ?? null
    if (receipt === null) return
    await db.transaction(async (tx) => {
      await bookRelayerFee(tx, row, { ...receipt, ...settings.x402 }, stampOf(payment_context))
      if (receipt.ok) await markRefunded(tx, row, txid, stampOf(payment_context))
      else await stepPayment(tx, row, { from: ['refunding'], to: 'owed' }, clock.now())
    })
  }
}
