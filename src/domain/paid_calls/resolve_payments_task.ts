import { emitAsSystem } from '#domain/audit/emit_as_system.ts'
import type { Task } from '#platform/runtime/tasks.ts'
import { type PaymentRow, type PaymentState, paymentReference } from './payment.ts'
import { LEASE_MS, type PaymentContext, stampOf } from './payment_context.ts'
import { bookRelayerFee, creditAccount, markRefunded } from './payment_money.ts'
import {
  findTransfers,
  findUnminedRaws,
  releasePayment,
  signedStore,
  stepPayment,
  takeOpenPayments,
} from './payment_store.ts'
import { resolveSettlement } from './resolve_settlement.ts'

/** A payer can retry the call for this long before the payment is returned. */
const GRACE_MS = 10 * 60_000
/** A transfer sent less than this ago is not sent again. */
const RESEND_AFTER_MS = 5_000

/**
 * Finishes payments whose call did not: it crashed between settlement and work, was refused after
 * settlement, or was not confirmed in time. Each payment is leased first, so any node may run it.
 */
export function resolvePaymentsTask(payment_context: PaymentContext): Task {
  return {
    name: 'resolve_payments',
    every_ms: 5_000,
    idle_ms: 15_000,
    run: async () => {
      await rebroadcast(payment_context)
      await forEachOpen(payment_context, 'reserved', 0, (row) =>
        changeState(payment_context, row, 'failed', 'abandoned'),
      )
      await forEachOpen(payment_context, 'settling', 0, (row) =>
        resolveSettlement(payment_context, row),
      )
      await forEachOpen(payment_context, 'settled', GRACE_MS, (row) =>
        changeState(payment_context, row, 'owed', 'never_called'),
      )
      await forEachOpen(payment_context, 'owed', 0, (row) => returnPayment(payment_context, row))
      await forEachOpen(payment_context, 'refunding', 0, (row) =>
        confirmRefund(payment_context, row),
      )
    },
  }
}

async function forEachOpen(
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
      // One payment that fails must not stop the others.
      log.error(
        'a payment could not be resolved; the next run tries again',
        { payment_id: row.id, state },
        cause,
      )
    }
    await releasePayment(db, row, clock.now())
  }
}

/** The node's response decides nothing, only receipts do. It is logged for the operator. */
async function rebroadcast({ db, clock, network, log }: PaymentContext): Promise<void> {
  const before = new Date(clock.now().getTime() - RESEND_AFTER_MS)
  for (const raw of await findUnminedRaws(db, before)) {
    await network?.broadcast(raw).catch((cause: unknown) => {
      log.error('the node refused a transfer of the relayer', {}, cause)
    })
  }
}

function changeState(
  { db, clock }: PaymentContext,
  row: PaymentRow,
  to: PaymentState,
  reason: string,
): Promise<boolean> {
  return stepPayment(db, row, { from: [row.state], to, reason }, clock.now())
}

/** Credits the calling account, or refunds the payer on the chain if there is none. */
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
