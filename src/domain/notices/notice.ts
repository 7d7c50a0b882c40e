import { type Email, type EmailBrand, renderHtml } from './templates/layout.ts'

/**
 * Emails to account owners: the events they chose in their notification settings, and a security
 * alert for every change an attacker would make. The operator gets one when a proof of the books
 * fails. Each email is stored before it is sent.
 */
export type NewNotice = {
  /** Null for the operator. */
  account_id: string | null
  kind: string
  recipient: string
  subject: string
  body_text: string
  /** Null if it is made from the content when the email is sent. */
  body_html: string | null
  content?: Email
  now: Date
}

export type NoticeRow = Omit<NewNotice, 'now' | 'content'> & {
  id: bigint
  content: Email | null
  state: 'due' | 'sent' | 'given_up'
  attempts: number
  created_at: Date
  sent_at: Date | null
}

/** The HTML of a stored email. */
export function htmlOfNotice({ body_html, content }: NoticeRow, brand: EmailBrand): string {
  return body_html ?? (content === null ? '' : renderHtml(content, brand))
}
