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
  body_html: string
  now: Date
}

export type NoticeRow = Omit<NewNotice, 'now'> & {
  id: bigint
  state: 'due' | 'sent' | 'given_up'
  attempts: number
  created_at: Date
  sent_at: Date | null
}
