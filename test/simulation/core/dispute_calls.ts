import {
  creditOf,
  type DisputeRow,
  disputeExists,
  evidenceDueAt,
  requireAmount,
  requireDisputable,
  requireOpen,
} from '#domain/disputes/dispute.ts'
import { creditDispute, reverseDispute } from '#domain/disputes/dispute_money.ts'
import { usdFromMicros } from '#kernel/money.ts'
import { type CallContext, type Calls, notFound, ok, requireActive } from './call_context.ts'
import { memoryTx, stampAt } from './core_state.ts'

const sumOf = (disputes: readonly DisputeRow[]) =>
  disputes.reduce((sum, one) => sum + creditOf(one), 0n)

type DisputeOp = 'file_dispute' | 'answer_dispute' | 'close_dispute'

export const dispute_calls: Calls<DisputeOp> = {
  file_dispute: async (context, { dispute: name, capture: message, amount }) => {
    const { core, rows, now } = context
    requireActive(context)
    const capture = rows.transactions.findLast((row) => row.message_identity === message)
    if (capture === undefined) throw notFound()
    requireDisputable(capture, now)
    const disputes = [...rows.disputes.values()]
    const earlier = disputes.filter((one) => one.transaction_id === capture.id)
    if (earlier.some(({ status }) => status !== 'closed')) throw disputeExists()
    const won = earlier.filter(({ outcome }) => outcome === 'won')
    const of_purchase = rows.transactions.filter(
      ({ id, authorization_id: of }) =>
        id === capture.id || (of !== null && of === capture.authorization_id),
    )
    const ids = new Set(of_purchase.map(({ id }) => id))
    const credited = disputes.filter((one) => ids.has(one.transaction_id) && one.outcome !== 'lost')
    const authorization = of_purchase.find(({ type }) => type === 'authorization') ?? null
    const amount_usd = amount === undefined ? undefined : usdFromMicros(amount)
    const amount_micros = requireAmount(amount_usd, {
      capture,
      authorization,
      won_micros: sumOf(won),
      credited_micros: sumOf(credited),
    })
    const dispute: DisputeRow = {
      account_id: rows.id,
      id: core.newId('dsp'),
      transaction_id: capture.id,
      amount_micros,
      card_id: capture.card_id,
      taken_back_micros: 0n,
      reason: 'fraudulent',
      explanation: '',
      status: 'open',
      outcome: null,
      closed_by: null,
      response_text: null,
      response_at: null,
      evidence_due_at: evidenceDueAt(now),
      metadata: {},
      version: 1n,
      created_at: now,
      updated_at: now,
      resolved_at: null,
    }
    await creditDispute({ tx: memoryTx(core), dispute, stamp: stampAt(core, now) })
    capture.dispute_id = dispute.id
    rows.disputes.set(name, dispute)
    return ok(amount_micros)
  },
  answer_dispute: (context, { dispute: name }) => {
    const dispute = disputeOf(context, name)
    requireOpen(dispute)
    dispute.status = 'answered'
    return ok()
  },
  close_dispute: async (context, { dispute: name, outcome }) => {
    const { core, now } = context
    const dispute = disputeOf(context, name)
    requireOpen(dispute)
    const stamp = stampAt(core, now)
    if (outcome === 'lost') await reverseDispute({ tx: memoryTx(core), dispute, stamp })
    Object.assign(dispute, { status: 'closed', outcome, closed_by: 'operator' })
    return ok()
  },
}

function disputeOf({ rows }: CallContext, name: string): DisputeRow {
  const dispute = rows.disputes.get(name)
  if (dispute === undefined) throw notFound()
  return dispute
}
