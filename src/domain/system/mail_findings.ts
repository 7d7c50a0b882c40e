import { insertNotices } from '#domain/notices/notice_store.ts'
import { findingsEmail } from '#domain/notices/templates/findings_email.ts'
import { renderEmail } from '#domain/notices/templates/layout.ts'
import type { Database } from '#platform/postgres/db.ts'
import type { Settings } from '#settings/settings.ts'
import { listFindings, markMailed } from './proof_store.ts'

const DAY_MS = 24 * 3_600_000
/** Longer emails are not read; the console lists all findings. */
const LISTED_MAX = 20

type MailDependencies = { db: Database; settings: Settings }

/** One email for findings that are new, and a reminder per day while any remain. */
export async function mailFindings({ db, settings }: MailDependencies, now: Date): Promise<void> {
  const { operator_email: recipient, operator_url, public_url } = settings
  if (recipient === null) return
  await db.transaction(async (tx) => {
    const findings = await listFindings(tx, 1_000)
    const isNew = ({ mailed_at }: { mailed_at: Date | null }) => mailed_at === null
    const isOld = ({ mailed_at }: { mailed_at: Date | null }) =>
      mailed_at !== null && now.getTime() - mailed_at.getTime() >= DAY_MS
    const has_new = findings.some(isNew)
    if (!has_new && !findings.some(isOld)) return
    const listed = has_new ? findings.filter(isNew) : findings
    const email = findingsEmail(listed.slice(0, LISTED_MAX), {
      count: listed.length,
      is_reminder: !has_new,
    })
    const url = operator_url ?? public_url
    const rendered = renderEmail(email, { ...settings, public_url: url })
    await insertNotices(tx, [{ account_id: null, kind: 'findings', recipient, ...rendered, now }])
    await markMailed(tx, now)
  })
}
