import { emitAsSystem } from '#domain/audit/emit_as_system.ts'
import type { Dependencies } from '#domain/context/context.ts'
import { formatUsd } from '#kernel/money.ts'
import type { Task } from '#platform/runtime/tasks.ts'
import { disputeEvent } from './dispute.ts'
import {
  hasDueForEvidence,
  lockDueForEvidence,
  markEvidenceStep,
  merchantOf,
} from './dispute_store.ts'

const REMIND_BEFORE_MS = 3 * 24 * 3_600_000

type Parts = Pick<Dependencies, 'db' | 'clock' | 'newId' | 'settings'>

/**
 * The deadline for evidence: its holder hears of it three days before, and when it has passed. What
 * comes later is still kept with the dispute, for whoever decides it to weigh.
 */
export function remindEvidenceTask(parts: Parts): Task {
  return {
    name: 'remind_evidence',
    every_ms: 60_000,
    run: async () => {
      if (!(await hasDueForEvidence(parts.db, dueNow(parts)))) return
      while (await remindOne(parts));
    },
  }
}

function dueNow({ clock }: Parts) {
  const now = clock.now()
  return { now, remind_at: new Date(now.getTime() + REMIND_BEFORE_MS) }
}

function remindOne(parts: Parts): Promise<boolean> {
  return parts.db.transaction(async (tx) => {
    const due = dueNow(parts)
    const { now } = due
    const dispute = await lockDueForEvidence(tx, due)
    if (dispute === undefined) return false
    const hasPassed = dispute.evidence_due_at <= now
    await markEvidenceStep(tx, dispute, hasPassed ? 'passed' : 'reminded')
    const amount = formatUsd(dispute.amount_micros)
    const about = `your dispute with ${await merchantOf(tx, dispute)} (${amount})`
    const deadline = dispute.evidence_due_at.toISOString().slice(0, 10)
    const message = hasPassed
      ? `The deadline for evidence has passed for ${about}.`
      : `Add evidence by ${deadline} for ${about}.`
    const event = disputeEvent(dispute, null, {
      type: 'dispute.evidence_due',
      message,
      severity: hasPassed ? 'info' : 'warning',
    })
    await emitAsSystem(tx, parts, dispute.account_id, { events: [event] })
    return true
  })
}
