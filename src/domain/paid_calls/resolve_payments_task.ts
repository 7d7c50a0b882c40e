import { tellAsSystem } from '#domain/audit/tell_as_system.ts'
import type { Task } from '#platform/runtime/tasks.ts'
import { type PaymentRow, type PaymentState, paymentReference } from './payment.ts'
import { credit, markRefunded, payFee } from './payment_money.ts'
import {
  releasePayment,
  signedStore,
  stepPayment,
  takeOpenPayments,
  transfersOf,
  unminedRaws,
} from './payment_store.ts'
import { resolveSettlement } from './resolve_settlement.ts'
import { LEASE_MS, stampOf, type Till } from './till.ts'

/** How long whoever has paid may come back for the call before the money goes back instead. */
const GRACE_MS = 10 * 60_000
/** What was sent this lately is still on its way. */
const SENT_LATELY_MS = 5_000

/**
 * Brings every payment to its end whose call has not: crashed between settlement and work, refused
 * after it, or not confirmed in time. Safe on any node: a payment is taken before it is touched.
 */
export function resolvePaymentsTask(till: Till): Task {
  return {
    name: 'resolve_payments',
    every_ms: 5_000,
    idle_ms: 15_000,
    pass: async () => {
      await sendAgain(till)
      await each(till, 'reserved', 0, (row) => step(till, row, 'failed', 'abandoned'))
      await each(till, 'settling', 0, (row) => resolveSettlement(till, row))
      await each(till, 'settled', GRACE_MS, (row) => step(till, row, 'owed', 'never_called'))
      await each(till, 'owed', 0, (row) => giveBack(till, row))
      await each(till, 'refunding', 0, (row) => confirmRefund(till, row))
    },
  }
}

async function each(
  till: Till,
  state: PaymentState,
  grace_ms: number,
  work: (row: PaymentRow) => Promise<unknown>,
): Promise<void> {
  const { db, clock, log } = till
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
async function sendAgain({ db, clock, network, log }: Till): Promise<void> {
  const before = new Date(clock.now().getTime() - SENT_LATELY_MS)
  for (const raw of await unminedRaws(db, before)) {
    await network?.broadcast(raw).catch((cause: unknown) => {
      log.error('a transfer of the relayer is not taken', {}, cause)
    })
  }
}

function step(
  { db, clock }: Till,
  row: PaymentRow,
  to: PaymentState,
  reason: string,
): Promise<boolean> {
  return stepPayment(db, row, { from: [row.state], to, reason }, clock.now())
}

/** To the account that called, where there was one; else on the chain, to whoever has paid. */
async function giveBack(till: Till, row: PaymentRow): Promise<void> {
  const { db, relayer, screener } = till
  const { account_id, payer, amount_micros } = row
  if (account_id !== null) {
    await db.transaction(async (tx) => {
      if (!(await credit(tx, row, stampOf(till)))) return
      const entry = { action: 'payment.credited', resource: paymentReference(row.id) }
      await tellAsSystem(tx, till, account_id, { entries: [entry] })
    })
    return
  }
  if (relayer === null) return
  const target = { chain: 'base', address: payer, direction: 'out', amount_micros } as const
  const { decision } = await screener.screen(target)
  if (decision !== 'allow') return
  const store = signedStore(db, { row, purpose: 'refund', now: till.clock.now() })
  await relayer.refund(payer, amount_micros, store)
}

async function confirmRefund(till: Till, row: PaymentRow): Promise<void> {
  const { db, network, clock, settings } = till
  const transfers = await transfersOf(db, row.id, 'refund')
  for (const { txid, state } of transfers) {
    if (state !== 'signed') continue
    const receipt = (await network?.receipt(txid)) ?? null
    if (receipt === null) return
    await db.transaction(async (tx) => {
      await payFee(tx, row, { ...receipt, ...settings.x402 }, stampOf(till))
      if (receipt.ok) await markRefunded(tx, row, txid, stampOf(till))
      else await stepPayment(tx, row, { from: ['refunding'], to: 'owed' }, clock.now())
    })
  }
}
