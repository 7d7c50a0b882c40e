import type { InboxMail } from '#domain/context/surface.ts'
import type { Tx } from '#platform/postgres/db.ts'
import { htmlOfNotice } from './notice.ts'
import { findNotices } from './notice_store.ts'
import type { EmailBrand } from './templates/layout.ts'

const SHOWN_MAX = 100

export async function inboxOf(tx: Tx, account_id: string, brand: EmailBrand): Promise<InboxMail[]> {
  const notices = await findNotices(tx, account_id, SHOWN_MAX)
  return notices.map((notice) => ({
    id: notice.id.toString(),
    kind: notice.kind,
    to: notice.recipient,
    subject: notice.subject,
    text: notice.body_text,
    html: htmlOfNotice(notice, brand),
    state: notice.state,
    created_at: notice.created_at.toISOString(),
    sent_at: notice.sent_at?.toISOString() ?? null,
  }))
}
