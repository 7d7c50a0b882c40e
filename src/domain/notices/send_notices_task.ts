import type { Database } from '#platform/postgres/db.ts'
import type { Clock } from '#platform/runtime/clock.ts'
import type { Log } from '#platform/runtime/log.ts'
import type { Task } from '#platform/runtime/tasks.ts'
import type { Mailer } from './mailer.ts'
import { htmlOfNotice, type NoticeRow } from './notice.ts'
import {
  deleteNoticesBefore,
  leaseNotices,
  markForRetry,
  markGivenUp,
  markSent,
} from './notice_store.ts'
import type { EmailBrand } from './templates/layout.ts'

const MINUTE_MS = 60_000
const HOUR_MS = 60 * MINUTE_MS
/** Retries cover a mail server that is down for most of a day; after that the news is too old. */
const DELAYS_MS = [1, 5, 30, 120, 360, 720].map((minutes) => minutes * MINUTE_MS)
const KEPT_MS = 30 * 24 * HOUR_MS
const LEASE_MS = 2 * MINUTE_MS
const BATCH_SIZE = 50
/** Old emails are deleted between two runs, so even a run with a long queue ends. */
const RUN_MS_MAX = 30_000
const ERROR_LENGTH_MAX = 500

type MailDependencies = { db: Database; clock: Clock; log: Log; settings: EmailBrand }

/** Sends due emails. Without a mail server it only deletes old ones. */
export function sendNoticesTask(dependencies: MailDependencies, mailer: Mailer | null): Task {
  const { db, clock } = dependencies
  return {
    name: 'send_notices',
    every_ms: 1_000,
    idle_ms: 5_000,
    run: async () => {
      const now = clock.now()
      await deleteNoticesBefore(db, new Date(now.getTime() - KEPT_MS))
      if (mailer === null) return
      const until = now.getTime() + RUN_MS_MAX
      while ((await sendBatch(dependencies, mailer)) === BATCH_SIZE) {
        if (clock.now().getTime() > until) return
      }
    },
  }
}

async function sendBatch(dependencies: MailDependencies, mailer: Mailer): Promise<number> {
  const { db, clock } = dependencies
  const now = clock.now()
  const leased_until = new Date(now.getTime() + LEASE_MS)
  const due = await leaseNotices(db, { now, leased_until, limit: BATCH_SIZE })
  await Promise.all(due.map((notice) => sendNotice(dependencies, mailer, notice)))
  return due.length
}

async function sendNotice(
  { db, clock, log, settings }: MailDependencies,
  mailer: Mailer,
  notice: NoticeRow,
): Promise<void> {
  const { id, recipient, subject, body_text } = notice
  const html = htmlOfNotice(notice, settings)
  const mail = { to: recipient, subject, text: body_text, html }
  try {
    await mailer.send({ id: id.toString(), ...mail })
  } catch (cause) {
    const delay_ms = DELAYS_MS[notice.attempts]
    const error = (cause instanceof Error ? cause.message : String(cause)).slice(
      0,
      ERROR_LENGTH_MAX,
    )
    if (delay_ms === undefined) await markGivenUp(db, { id, error })
    else {
      const next_attempt_at = new Date(clock.now().getTime() + delay_ms)
      await markForRetry(db, { id, error, next_attempt_at })
    }
    log.error('email could not be sent', { notice: id.toString() }, cause)
    return
  }
  await markSent(db, id, clock.now())
}
