import { emitAsSystem } from '#domain/audit/emit_as_system.ts'
import type { Dependencies } from '#domain/context/context.ts'
import { formatUsd } from '#kernel/money.ts'
import { formatDay } from '#kernel/timestamp.ts'
import type { Database } from '#platform/postgres/db.ts'
import type { Clock } from '#platform/runtime/clock.ts'
import type { Task } from '#platform/runtime/tasks.ts'
import type { Settings } from '#settings/settings.ts'
import { disputeEvent } from './dispute.ts'
import {
  findMerchantName,
  hasEvidenceReminderDue,
  lockEvidenceReminder,
  markEvidenceStep,
} from './dispute_store.ts'

const REMIND_BEFORE_MS = 3 * 24 * 3_600_000

type ReminderDependencies = {
  db: Database
  clock: Clock
  newId: Dependencies['newId']
  settings: Settings
}

/**
 * Notifies the holder three days before the evidence deadline and when it has passed. Evidence
 * added later is still stored with the dispute; the operator decides whether it counts.
 */
export function remindEvidenceTask(dependencies: ReminderDependencies): Task {
  return {
    name: 'remind_evidence',
    every_ms: 60_000,
    run: async () => {
      if (!(await hasEvidenceReminderDue(dependencies.db, reminderTimes(dependencies)))) return
      while (await remindOne(dependencies));
    },
  }
}

function reminderTimes({ clock }: ReminderDependencies) {
  const now = clock.now()
  return { now, remind_at: new Date(now.getTime() + REMIND_BEFORE_MS) }
}

function remindOne(dependencies: ReminderDependencies): Promise<boolean> {
  return dependencies.db.transaction(async (tx) => {
    const times = reminderTimes(dependencies)
    const { now } = times
    const dispute = await lockEvidenceReminder(tx, times)
    if (dispute === undefined) return false
    const hasPassed = dispute.evidence_due_at <= now
    await markEvidenceStep(tx, dispute, hasPassed ? 'passed' : 'reminded')
    const amount = formatUsd(dispute.amount_micros)
    const about = `your dispute with ${await findMerchantName(tx, dispute)} (${amount})`
    const deadline = formatDay(dispute.evidence_due_at)
    const message = hasPassed
      ? `The deadline for evidence has passed for ${about}.`
      : `Add evidence by ${deadline} for ${about}.`
    const event = disputeEvent(dispute, null, {
      type: 'dispute.evidence_due',
      message,
      severity: hasPassed ? 'info' : 'warning',
    })
    await emitAsSystem(tx, dependencies, dispute.account_id, { events: [event] })
    return true
  })
}
